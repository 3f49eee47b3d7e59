/**
 * Set-up for the tests of machines/: while a test runs there is no clock, no chance, no timer, no environment and no
 * network, and whoever asks for one is told so. Decisions must give the same answer anywhere, at any time.
 */
import fc from 'fast-check';
import { afterEach, beforeEach } from 'vitest';

const ambient = ['Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'process', 'fetch', 'crypto'];
/** The test runner itself works between the lines of a test, and needs its timers for that. */
const trusted = /node_modules\/(vitest|@vitest|vite|chai)\/|^\s*at (?:\S+ \()?node:/;

// fast-check draws its default seed from the clock at the time of the assertion; here it has one beforehand.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Date.now() % 0x7fff_ffff });

/** Throws unless the test runner asks. Frames: this function, the accessor, whoever asked. */
function refuseStrangers(name: string): void {
  const asker = (new Error(name).stack ?? '').split('\n')[3] ?? '';
  if (!trusted.test(asker)) throw new Error(`${name} was used where nothing ambient may be`);
}

/** Replaces a global, or a member of one, by an accessor that refuses; answers the way back. */
function takeAway(holder: object, key: string, name: string): () => void {
  const original = Object.getOwnPropertyDescriptor(holder, key);
  if (original === undefined) throw new Error(`there is no ${name} to take away`);
  let current: unknown = Reflect.get(holder, key);
  Object.defineProperty(holder, key, {
    configurable: true,
    get() {
      refuseStrangers(name);
      return current;
    },
    set(value: unknown) {
      refuseStrangers(name);
      current = value;
    },
  });
  return () => Object.defineProperty(holder, key, original);
}

let restore: readonly (() => void)[] = [];

beforeEach(() => {
  restore = [...ambient.map((name) => takeAway(globalThis, name, name)), takeAway(Math, 'random', 'Math.random')];
});

afterEach(() => {
  for (const undo of restore) undo();
});
