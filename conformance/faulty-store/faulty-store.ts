/** Any store behind a bad connection: the same contract, with faults where the plan says so. */
import type { CommitOutcome, RunCommit, Store } from '../../store/index.ts';
import { StoreUnavailable } from '../../store/index.ts';
import type { Fault, FaultPlan } from './faults.ts';

/** Calls that are no round trip, or that a test ends with. */
const spared: ReadonlySet<PropertyKey> = new Set(['now', 'kind', 'close', 'check', 'referencedDigests']);

export function faultyStore(store: Store, plan: FaultPlan): Store {
  return new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name);
      if (typeof found !== 'function' || typeof name !== 'string' || spared.has(name)) return found;
      return async (...given: unknown[]): Promise<unknown> => {
        const fault = plan.next(name);
        const call = async (): Promise<unknown> => Reflect.apply(found, target, given);
        if (name === 'commit') return faultyCommit(store, given[0], fault);
        return fault === null ? call() : faultyCall(name, call, fault);
      };
    },
  });
}

async function faultyCall(name: string, call: () => Promise<unknown>, fault: Fault): Promise<unknown> {
  switch (fault) {
    case 'unreachable':
    case 'timed-out':
      throw new StoreUnavailable(`${name}: injected, not executed`);
    case 'answer-lost':
      await call();
      throw new StoreUnavailable(`${name}: injected, executed`);
    case 'conflict':
      return name === 'updateSession' ? 'conflict' : call();
  }
}

async function faultyCommit(store: Store, given: unknown, fault: Fault | null): Promise<readonly CommitOutcome[]> {
  if (!isCommits(given)) throw new TypeError('commit takes a list of commits');
  switch (fault) {
    case null:
      return store.commit(given);
    case 'unreachable':
      throw new StoreUnavailable('commit: injected, not executed');
    case 'timed-out':
      return given.map(() => ({ kind: 'unknown', cause: new Error('injected, not executed') }));
    case 'answer-lost': {
      const outcomes = await store.commit(given);
      return outcomes.map((outcome) =>
        outcome.kind === 'committed' ? { kind: 'unknown', cause: new Error('injected, executed') } : outcome,
      );
    }
    case 'conflict':
      return given.map(() => ({ kind: 'conflict', why: 'sequence' }));
  }
}

const isCommits = (given: unknown): given is readonly RunCommit[] => Array.isArray(given);
