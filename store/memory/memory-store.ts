/** The reference store: what every other one is compared with, and what explorer and simulator run on. */
import { checkRows } from '../../machines/model/index.ts';
import type { Store, StoreClock, StoreHook } from '../contract.ts';
import { commitAll } from './commit.ts';
import { outboxMethods } from './outbox.ts';
import { readMethods } from './reads.ts';
import { sessionMethods } from './sessions.ts';
import { createMemoryState } from './state.ts';
import { timerMethods } from './timers.ts';
import { upkeepMethods } from './upkeep.ts';

export interface MemoryStoreOptions {
  readonly clock: StoreClock;
  /** A hook that throws is a crash at that point: before the commit nothing happened, after it the outcome is unknown. */
  readonly hook?: StoreHook;
}

export function createMemoryStore({ clock, hook = () => {} }: MemoryStoreOptions): Store {
  const state = createMemoryState(clock, hook);
  return {
    kind: 'memory',
    now: () => clock.now(),
    async commit(commits) {
      return commitAll(state, commits);
    },
    ...readMethods(state),
    ...sessionMethods(state),
    ...timerMethods(state),
    ...outboxMethods(state),
    ...upkeepMethods(state),
    async check() {
      const problems = [...state.runs.values()].flatMap(({ run, nodes, attempts, leases, facts }) =>
        checkRows({
          run,
          nodes,
          attempts: [...attempts.values()],
          leases: [...leases.values()],
          facts: { count: facts.length, first: facts[0]?.sequence ?? 0, last: facts.at(-1)?.sequence ?? 0 },
        }),
      );
      return { problems, runs: state.runs.size, facts: state.feed.length };
    },
    async close() {},
  };
}
