/** The whole suite again, with a fault at about every eighth call of every process. */
import type { MakeStore, SuiteRunner } from '../../store/suite/index.ts';
import type { Fault } from '../faulty-store/index.ts';
import { faultyStore, seededFaults } from '../faulty-store/index.ts';
import { seededRandom } from '../testkit/index.ts';
import { runtimeSuite } from './runtime-suite.ts';

const rate = 0.125;

/** Gives how often each fault was injected, so that the caller can tell a storm from a calm. */
export function stormSuite(
  runner: SuiteRunner,
  name: string,
  make: MakeStore,
  seed: number,
): ReadonlyMap<Fault, number> {
  const given = new Map<Fault, number>();
  const random = seededRandom(seed);
  runtimeSuite(runner, `${name}, faults of seed ${seed}`, make, {
    disturb(store) {
      const plan = seededFaults({ random, rate });
      return faultyStore(store, {
        given,
        next(call) {
          const fault = plan.next(call);
          if (fault !== null) given.set(fault, (given.get(fault) ?? 0) + 1);
          return fault;
        },
      });
    },
  });
  return given;
}
