/** The real world, as the runtime wants it: identities, chance, waking. */
import { randomBytes } from 'node:crypto';
import type { RuntimeOptions } from '../../actors/index.ts';
import type { Store } from '../../store/index.ts';
import { createUuidV7 } from '../ids/index.ts';
import { freshSeed, seededRandom } from './random.ts';

/** Longer timers would fire at once in Node. */
const timerMsMax = 2 ** 31 - 1;

export function runtimePorts(store: Store): Pick<RuntimeOptions, 'store' | 'ids' | 'random' | 'wake'> {
  return {
    store,
    ids: { uuid: createUuidV7({ now: Date.now, randomBytes }) },
    random: seededRandom(freshSeed()),
    wake: {
      setTimer(callback, delayMs) {
        const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), timerMsMax));
        return () => clearTimeout(timer);
      },
      soon(callback) {
        setImmediate(callback);
      },
    },
  };
}
