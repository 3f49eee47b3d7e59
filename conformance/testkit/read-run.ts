/** Everything a store knows of one run, read through the contract alone. */
import type { AttemptRow, LeaseRow, RunAggregate, RunId } from '../../machines/index.ts';
import { aggregateOf } from '../../machines/index.ts';
import type { LoadedRun, Store, StoredFact } from '../../store/index.ts';

export interface WholeRun {
  readonly loaded: LoadedRun;
  readonly aggregate: RunAggregate;
  readonly facts: readonly StoredFact[];
  /** Ended ones too. */
  readonly attempts: readonly AttemptRow[];
  readonly leases: readonly LeaseRow[];
}

const pageSize = 1_000;

export async function readRun(store: Store, run: RunId): Promise<WholeRun> {
  const loaded = await store.load(run);
  if (loaded === null) throw new Error(`the store has no run ${run}`);
  return {
    loaded,
    aggregate: aggregateOf(loaded),
    facts: await allFacts(store, run),
    attempts: await store.attempts(run, {}),
    leases: [...(await store.leases(run, { live: true })), ...(await store.leases(run, { live: false }))],
  };
}

export async function allFacts(store: Store, run: RunId): Promise<readonly StoredFact[]> {
  const facts: StoredFact[] = [];
  for (;;) {
    const page = await store.facts(run, { after: facts.length, limit: pageSize });
    facts.push(...page);
    if (page.length < pageSize) return facts;
  }
}

export async function allRuns(store: Store): Promise<readonly RunId[]> {
  const runs: RunId[] = [];
  let cursor: string | null = null;
  do {
    const page: { items: readonly { readonly id: RunId }[]; next: string | null } = await store.runs(
      {},
      { limit: pageSize, cursor },
    );
    runs.push(...page.items.map(({ id }) => id));
    cursor = page.next;
  } while (cursor !== null);
  return runs;
}
