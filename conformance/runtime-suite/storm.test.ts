import { afterAll, describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../store/index.ts';
import type { Fault } from '../faulty-store/index.ts';
import { faults, faultyStore, seededFaults } from '../faulty-store/index.ts';
import { seededRandom } from '../testkit/index.ts';
import { runtimeSuite } from './index.ts';

/** The whole suite again, with a fault at about every eighth call of every process. */
for (const seed of [1, 2, 3]) {
  const given = new Map<Fault, number>();
  const random = seededRandom(seed);
  runtimeSuite(
    { describe, it, expect },
    `memory, faults of seed ${seed}`,
    { open: async ({ clock, hook }) => createMemoryStore({ clock, hook }) },
    {
      disturb(store) {
        const plan = seededFaults({ random, rate: 0.125 });
        return faultyStore(store, {
          given: plan.given,
          next(call) {
            const fault = plan.next(call);
            if (fault !== null) given.set(fault, (given.get(fault) ?? 0) + 1);
            return fault;
          },
        });
      },
    },
  );
  afterAll(() => {
    for (const fault of faults) expect((given.get(fault) ?? 0) > 50, `${fault} was rare`).toBe(true);
  });
}
