/**
 * Group commit: commits of different runs are folded into one statement, and so one round trip and one flush. Commits of
 * one run, or with one request id, go in successive waves. A wave that the server refuses as a whole goes one by one,
 * so that a bad commit is refused alone.
 */
import type { MessageId } from '../../machines/index.ts';
import type { CommitOutcome, RunCommit } from '../contract.ts';
import { StoreUnavailable } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import { isBrokenRows, isRefusal, isWorthRepeating } from './postgres-errors.ts';
import { rowsOf, rowsPerStatement, sendCommits } from './send-commits.ts';

export async function commitAll(
  context: PostgresContext,
  commits: readonly RunCommit[],
): Promise<readonly CommitOutcome[]> {
  const outcomes = new Map<RunCommit, CommitOutcome>();
  for (const commit of commits) {
    const repeated = repeatedMessages(commit);
    if (repeated.length > 0) outcomes.set(commit, { kind: 'duplicate', messages: repeated });
  }
  let applied = false;
  for (const wave of waves(commits.filter((commit) => !outcomes.has(commit)))) {
    try {
      const results = await commitWave(context, wave);
      for (const [place, commit] of wave.entries()) outcomes.set(commit, results[place] ?? lost);
      applied ||= results.some(({ kind }) => kind === 'committed' || kind === 'unknown');
    } catch (cause) {
      if (!applied) throw cause;
      for (const commit of wave) outcomes.set(commit, { kind: 'failed', cause });
    }
  }
  return commits.map((commit) => outcomes.get(commit) ?? lost);
}

const lost: CommitOutcome = { kind: 'failed', cause: new Error('no outcome') };

function repeatedMessages({ receipts }: RunCommit): readonly MessageId[] {
  const messages = receipts.map(({ messageId }) => messageId);
  return messages.filter((id, place) => messages.indexOf(id) !== place);
}

/**
 * In one statement every run is changed at most once, every request id is taken at most once, and the rows are as many
 * as one statement takes; a bigger commit goes alone.
 */
function waves(commits: readonly RunCommit[]): readonly (readonly RunCommit[])[] {
  const result: RunCommit[][] = [];
  let taken = new Set<string>();
  let rows = 0;
  for (const commit of commits) {
    const { runId, create, run } = commit;
    const keys = create === null ? [runId] : [runId, JSON.stringify([run.project, run.requestId])];
    const size = rowsOf(commit);
    const current = result.at(-1);
    if (current === undefined || rows + size > rowsPerStatement || keys.some((key) => taken.has(key))) {
      taken = new Set(keys);
      rows = size;
      result.push([commit]);
    } else {
      for (const key of keys) taken.add(key);
      rows += size;
      current.push(commit);
    }
  }
  return result;
}

const repeatsMax = 3;

async function commitWave(context: PostgresContext, wave: readonly RunCommit[]): Promise<readonly CommitOutcome[]> {
  for (let sent = 1; ; sent += 1) {
    try {
      return await sendCommits(context, wave);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (isWorthRepeating(error) && sent < repeatsMax) continue;
      if (wave.length > 1 && isRefusal(error)) return commitSingly(context, wave, error);
      if (isBrokenRows(error)) return wave.map(() => ({ kind: 'failed', cause: error }));
      throw error;
    }
  }
}

async function commitSingly(
  context: PostgresContext,
  wave: readonly RunCommit[],
  waveError: StoreUnavailable,
): Promise<readonly CommitOutcome[]> {
  const outcomes: CommitOutcome[] = [];
  let answered = false;
  for (const commit of wave) {
    try {
      outcomes.push((await commitWave(context, [commit]))[0] ?? lost);
      answered = true;
    } catch (cause) {
      outcomes.push({ kind: 'failed', cause });
    }
  }
  if (!answered) throw waveError;
  return outcomes;
}
