/**
 * Sends commits of distinct runs. In production one statement is the whole transaction: once it was sent, only a refusal
 * by the server means that nothing happened, and every other error leaves it unknown (S4). Big commits, and those of
 * tests that stop between the steps, take a transaction of several statements with the same meaning.
 */
import type { MessageId, RunId } from '../../machines/index.ts';
import type { CommitOutcome, RunCommit } from '../contract.ts';
import { brokenRows } from './broken-rows.ts';
import type { Judged, RowLists } from './commit-parameters.ts';
import { headParameters, listParameters, listsOf, wantedOf } from './commit-parameters.ts';
import type { PostgresContext } from './context.ts';
import type { SqlRow, SqlValue, Statement, Transaction } from './database.ts';
import { RolledBack } from './database.ts';
import { isRefusal, unavailable } from './postgres-errors.ts';

/** Rows of one kind in one statement: JSON of a few MiB, and locks held for some 100 ms. */
export const rowsPerStatement = 2_000;

const placeholders = (count: number): string => Array.from({ length: count }, (_, place) => `$${place + 1}`).join(', ');
const commitStatement: Statement = {
  name: 'commit_v1',
  text: `SELECT forgeyard.commit_v1(${placeholders(18)}) AS answer`,
};
const writeStatement: Statement = {
  name: 'write_rows_v1',
  text: `SELECT forgeyard.write_rows_v1(${placeholders(17)})`,
};

export function rowsOf({ jobs, gates, attempts, leases, facts, receipts, timers }: RunCommit): number {
  const longest = Math.max(jobs.length, gates.length, attempts.length, leases.length, facts.length, receipts.length);
  return Math.max(longest, timers.set.length, timers.cancel.length);
}

/** Outcomes in the order of `commits`. Throws when nothing happened. */
export async function sendCommits(
  context: PostgresContext,
  commits: readonly RunCommit[],
): Promise<readonly CommitOutcome[]> {
  // Locks are taken in this order, so that two batches never wait for each other.
  const sorted = [...commits].sort((a, b) => (a.runId < b.runId ? -1 : 1));
  const broken = new Map(sorted.flatMap((commit) => brokenIn(commit)));
  const chunks = chunksOf(listsOf(sorted.filter(({ runId }) => !broken.has(runId))));
  const batch: Batch = {
    chunks,
    judged: sorted.map((commit) => ({
      commit,
      broken: broken.has(commit.runId),
      // A commit in chunks is alone in its batch.
      wanted: chunks.length > 1 ? wantedOf(chunks[0]) : wantedOf(listsOf([commit])),
    })),
  };
  const steps = context.hook !== null || chunks.length > 1;
  const refusals = await (steps ? sendInSteps(context, batch) : sendAtOnce(context, batch));
  return commits.map(({ runId }): CommitOutcome => {
    const refused = refusals.get(runId);
    if (refused === undefined) return { kind: 'committed' };
    return refused === 'broken' ? { kind: 'failed', cause: broken.get(runId) } : refused;
  });
}

function brokenIn(commit: RunCommit): readonly (readonly [RunId, Error])[] {
  const broken = brokenRows(commit);
  return broken === null ? [] : [[commit.runId, broken]];
}

interface Batch {
  readonly judged: readonly Judged[];
  readonly chunks: Chunks;
}

/** Of the commits that were not written. */
type Refusals = ReadonlyMap<RunId, CommitOutcome | 'broken'>;
/** At least one; of a single commit more where it is too big for one statement. */
type Chunks = readonly [RowLists, ...RowLists[]];

async function sendAtOnce({ database, clock }: PostgresContext, batch: Batch): Promise<Refusals> {
  let sent = false;
  try {
    const rows = await database.execute(commitStatement, commitValues(batch, clock.fixed()), () => {
      sent = true;
    });
    return heard(rows, clock);
  } catch (cause) {
    if (!sent || isRefusal(cause)) throw cause;
    return new Map(batch.judged.map(({ commit }) => [commit.runId, { kind: 'unknown', cause }]));
  }
}

const begin = `BEGIN; SET LOCAL idle_in_transaction_session_timeout = '60s'`;

async function sendInSteps({ database, clock, hook }: PostgresContext, batch: Batch): Promise<Refusals> {
  let refusals: Refusals = new Map();
  let commitSent = false;
  hook?.('commit:before-send');
  try {
    await database.transaction(begin, async (transaction, commit) => {
      refusals = heard(await transaction.query(commitStatement, commitValues(batch, clock.fixed())), clock);
      if (refusals.size === batch.judged.length) return;
      hook?.('commit:between-statements');
      await writeRest(transaction, batch);
      hook?.('commit:before-commit');
      commitSent = true;
      await commit();
      hook?.('commit:after-commit');
    });
    return refusals;
  } catch (cause) {
    if (!commitSent) throw cause;
    if (cause instanceof RolledBack) throw unavailable('the database rolled the commit back', cause);
    return new Map(
      batch.judged.map(({ commit }) => [commit.runId, refusals.get(commit.runId) ?? { kind: 'unknown', cause }]),
    );
  }
}

async function writeRest(transaction: Transaction, { judged, chunks: [, ...rest] }: Batch): Promise<void> {
  const won = judged.map(({ commit }) => commit.runId);
  for (const lists of rest) {
    const { jobs, gates, attempts, leases } = wantedOf(lists);
    await transaction.query(writeStatement, [won, jobs, gates, attempts, leases, ...listParameters(lists)]);
  }
}

function commitValues({ judged, chunks: [first] }: Batch, fixedNow: number | null): readonly SqlValue[] {
  return [...headParameters(judged, fixedNow), ...listParameters(first)];
}

/** Slices of all lists side by side: what must come first in a list still does. */
function chunksOf(lists: RowLists): Chunks {
  const slice = (place: number): RowLists => {
    const cut = (rows: readonly object[]) => rows.slice(place * rowsPerStatement, (place + 1) * rowsPerStatement);
    const { newJobs, newGates, dependencies, jobs, gates, attempts, leases, facts } = lists;
    const { timersSet, timersEnded, receipts, audit } = lists;
    return {
      newJobs: cut(newJobs),
      newGates: cut(newGates),
      dependencies: cut(dependencies),
      jobs: cut(jobs),
      gates: cut(gates),
      attempts: cut(attempts),
      leases: cut(leases),
      facts: cut(facts),
      timersSet: cut(timersSet),
      timersEnded: cut(timersEnded),
      receipts: cut(receipts),
      audit: cut(audit),
    };
  };
  const longest = Math.max(...Object.values(lists).map((rows: readonly object[]) => rows.length));
  if (longest <= rowsPerStatement) return [lists];
  const rest = Array.from({ length: Math.ceil(longest / rowsPerStatement) - 1 }, (_, place) => slice(place + 1));
  return [slice(0), ...rest];
}

interface Answer {
  readonly now: number;
  readonly refused: readonly Refused[] | null;
}
type Refused = { readonly runId: RunId } & (
  | { readonly kind: 'duplicate'; readonly detail: readonly MessageId[] }
  | { readonly kind: 'exists'; readonly detail: RunId }
  | { readonly kind: 'sequence' | 'guard' | 'broken' }
);

/** Only what was refused has an entry. */
function heard([row]: readonly SqlRow[], clock: PostgresContext['clock']): Refusals {
  const answer = row?.answer as Answer;
  clock.observe(answer.now);
  return new Map((answer.refused ?? []).map((refused) => [refused.runId, refusalOf(refused)]));
}

function refusalOf(refused: Refused): CommitOutcome | 'broken' {
  switch (refused.kind) {
    case 'duplicate':
      return { kind: 'duplicate', messages: refused.detail };
    case 'exists':
      return { kind: 'exists', runId: refused.detail };
    case 'sequence':
    case 'guard':
      return { kind: 'conflict', why: refused.kind };
    case 'broken':
      return 'broken';
  }
}
