/**
 * Group commit: the commits of a batch share one transaction, each in a savepoint of its own, so that a bad one is
 * taken back alone. Before COMMIT is sent an error means "nothing happened"; from then on it means "unknown" (S4).
 */
import type { CommitOutcome, RunCommit } from '../contract.ts';
import { StoreUnavailable } from '../contract.ts';
import { rollBack } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { asUnavailable, isConstraint } from './sqlite-errors.ts';
import { BrokenRows, writeCommit } from './write-commit.ts';

export function commitAll(context: SqliteContext, commits: readonly RunCommit[]): readonly CommitOutcome[] {
  try {
    return commitTogether(context, commits);
  } catch (error) {
    if (commits.length === 1 || !(error instanceof StoreUnavailable)) throw error;
    return commitSingly(context, commits, error);
  }
}

/** The batch failed as a whole (a transaction too big for the disk, say): its members may still pass one by one. */
function commitSingly(
  context: SqliteContext,
  commits: readonly RunCommit[],
  batchError: StoreUnavailable,
): readonly CommitOutcome[] {
  let applied = false;
  const outcomes = commits.map((commit): CommitOutcome => {
    try {
      const outcome = commitTogether(context, [commit])[0] ?? { kind: 'failed', cause: batchError };
      applied = true;
      return outcome;
    } catch (cause) {
      return { kind: 'failed', cause };
    }
  });
  if (!applied) throw batchError;
  return outcomes;
}

function commitTogether(context: SqliteContext, commits: readonly RunCommit[]): readonly CommitOutcome[] {
  const { connection, hook } = context;
  const { database } = connection;
  hook('commit:before-send');
  let outcomes: readonly CommitOutcome[];
  try {
    database.exec('BEGIN IMMEDIATE');
    const now = context.clock.now();
    outcomes = commits.map((commit) =>
      commits.length === 1
        ? writeCommit(context, commit, now)
        : inSavepoint(context, () => writeCommit(context, commit, now)),
    );
    if (outcomes.every(({ kind }) => kind !== 'committed')) {
      rollBack(database);
      return outcomes;
    }
    hook('commit:before-commit');
  } catch (error) {
    rollBack(database);
    if (commits.length === 1 && isBroken(error)) return [{ kind: 'failed', cause: error }];
    throw asUnavailable(error);
  }
  try {
    database.exec('COMMIT');
    hook('commit:after-commit');
  } catch (cause) {
    rollBack(database);
    return outcomes.map((outcome) => (outcome.kind === 'committed' ? { kind: 'unknown', cause } : outcome));
  }
  return outcomes;
}

function inSavepoint({ connection }: SqliteContext, write: () => CommitOutcome): CommitOutcome {
  connection.run('SAVEPOINT one_commit');
  try {
    const outcome = write();
    connection.run('RELEASE one_commit');
    return outcome;
  } catch (error) {
    if (!isBroken(error)) throw error;
    connection.run('ROLLBACK TO one_commit');
    connection.run('RELEASE one_commit');
    return { kind: 'failed', cause: error };
  }
}

const isBroken = (error: unknown): boolean => isConstraint(error) || error instanceof BrokenRows;
