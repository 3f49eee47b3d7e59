/**
 * Follows one run by its facts, whoever commits them: reads by sequence, sooner when rung.
 * The state is folded, so a step costs as much as what happened and not as much as the run is large.
 */
import type { RunAggregate, RunId } from '../../../machines/index.ts';
import { aggregateOf, evolve, isRunTerminal } from '../../../machines/index.ts';
import type { Store, StoredFact } from '../../../store/index.ts';

export interface FollowOptions {
  readonly store: Pick<Store, 'facts' | 'load'>;
  readonly runId: RunId;
  /** Facts after this number are shown; 0 shows the whole history. Null: from now on. */
  readonly after: number | null;
  readonly onFacts: (facts: readonly StoredFact[], aggregate: RunAggregate) => void;
  /** A hint that there may be something new. */
  readonly subscribe?: (ring: () => void) => () => void;
  readonly signal: AbortSignal;
}

const pollMs = 200;
const pageMax = 1_000;
/** In a row; each may itself have waited for a lock. */
const failuresMax = 50;

/** Resolves with the run as it is when it has ended, or when the signal is given. Null: there is no such run. */
export async function followRun(options: FollowOptions): Promise<RunAggregate | null> {
  const { store, runId, signal } = options;
  const bell = createBell(signal);
  const unsubscribe = options.subscribe?.(bell.ring);
  try {
    let aggregate = await load(store, runId);
    if (aggregate === null) return null;
    await showPast(options, aggregate);
    let failures = 0;
    while (!signal.aborted && !isRunTerminal(aggregate.run.state)) {
      const facts = await read(store, aggregate);
      failures = facts === null ? failures + 1 : 0;
      if (failures > failuresMax) throw new Error('the store has been out of reach for too long');
      if (facts === null || facts.length === 0) {
        await bell.wait(pollMs);
        continue;
      }
      const next: RunAggregate | null = fold(aggregate, facts) ? aggregate : await load(store, runId);
      if (next === null) return null;
      aggregate = next;
      options.onFacts(facts, aggregate);
    }
    return aggregate;
  } finally {
    unsubscribe?.();
  }
}

/** Null when the store did not answer this time: it may be locked for a moment, or its disk full. */
async function read(
  store: FollowOptions['store'],
  { run, sequence }: RunAggregate,
): Promise<readonly StoredFact[] | null> {
  try {
    return await store.facts(run.id, { after: sequence, limit: pageMax });
  } catch (error) {
    if (error instanceof Error && error.name === 'StoreUnavailable') return null;
    throw error;
  }
}

async function load(store: FollowOptions['store'], runId: RunId): Promise<RunAggregate | null> {
  const loaded = await store.load(runId);
  return loaded === null ? null : aggregateOf(loaded);
}

async function showPast({ store, runId, after, onFacts }: FollowOptions, aggregate: RunAggregate): Promise<void> {
  if (after === null) {
    onFacts([], aggregate);
    return;
  }
  for (let at = after; at < aggregate.sequence; ) {
    const facts = await store.facts(runId, { after: at, limit: Math.min(pageMax, aggregate.sequence - at) });
    const last = facts.at(-1);
    if (last === undefined) return;
    at = last.sequence;
    onFacts(facts, aggregate);
  }
}

/** False where a fact is about a row this view has never seen (an attempt that ended before): then all is read anew. */
function fold(aggregate: RunAggregate, facts: readonly StoredFact[]): boolean {
  try {
    for (const { fact } of facts) evolve(aggregate, fact);
    return true;
  } catch {
    return false;
  }
}

interface Bell {
  readonly ring: () => void;
  wait(ms: number): Promise<void>;
}

function createBell(signal: AbortSignal): Bell {
  let rung = false;
  let wake = (): void => undefined;
  const ring = (): void => {
    rung = true;
    wake();
  };
  signal.addEventListener('abort', ring, { once: true });
  return {
    ring,
    wait: (ms) =>
      new Promise((resolve) => {
        const timer = setTimeout(end, ms);
        function end(): void {
          clearTimeout(timer);
          wake = () => undefined;
          rung = false;
          resolve();
        }
        wake = end;
        if (rung) end();
      }),
  };
}
