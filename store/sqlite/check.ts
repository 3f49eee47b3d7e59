/** `store check`: the file by SQLite's own means, then the invariants across rows, run by run. */
import type { RowProblem, RunId } from '../../machines/model/index.ts';
import { checkRows } from '../../machines/model/index.ts';
import type { Store, StoreCheck } from '../contract.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { nodesOf } from './reads.ts';
import { attemptFrom } from './rows/attempt-rows.ts';
import { leaseFrom } from './rows/lease-rows.ts';
import { integer, integerOrNull, text } from './rows/read-columns.ts';
import { runFrom } from './rows/run-rows.ts';
import { resultCode } from './sqlite-errors.ts';

export function checkMethods({ connection }: SqliteContext): Pick<Store, 'check'> {
  return {
    async check() {
      try {
        return connection.read(() => checkAll(connection));
      } catch (error) {
        const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
        if (resultCode(cause) === null) throw error;
        return { problems: [{ code: 'Unreadable', entity: 'file', message: String(cause) }], runs: 0, facts: 0 };
      }
    },
  };
}

function checkAll(connection: Connection): StoreCheck {
  const file = fileProblems(connection);
  // Rows of a damaged file would only repeat the damage in other words.
  if (file.length > 0) return { problems: file, runs: 0, facts: 0 };
  const runs = connection.all('SELECT id FROM runs ORDER BY id').map((row) => text<RunId>(row, 'id'));
  const facts = connection.get('SELECT count(*) AS facts FROM events');
  return {
    problems: [
      ...runs.flatMap((id) => runProblems(connection, id)),
      ...outboxProblems(connection),
      ...copyProblems(connection),
    ],
    runs: runs.length,
    facts: facts === undefined ? 0 : integer(facts, 'facts'),
  };
}

function fileProblems(connection: Connection): readonly RowProblem[] {
  const integrity = connection
    .all('PRAGMA integrity_check(20)')
    .map((row) => text(row, 'integrity_check'))
    .filter((line) => line !== 'ok')
    .map((message): RowProblem => ({ code: 'Integrity', entity: 'file', message }));
  const references = connection.all('PRAGMA foreign_key_check').map(
    (row): RowProblem => ({
      code: 'ForeignKey',
      entity: text(row, 'table'),
      message: `a row refers to a missing row of ${text(row, 'parent')}`,
    }),
  );
  return [...integrity, ...references];
}

function runProblems(connection: Connection, id: RunId): readonly RowProblem[] {
  const run = connection.get('SELECT * FROM runs WHERE id = ?', id);
  const facts = connection.get(
    'SELECT count(*) AS facts, min(sequence) AS first, max(sequence) AS last FROM events WHERE run_id = ?',
    id,
  );
  if (run === undefined || facts === undefined) return [];
  return checkRows({
    run: runFrom(run),
    nodes: nodesOf(connection, id),
    attempts: connection.map(attemptFrom, 'SELECT * FROM attempts WHERE run_id = ?', id),
    leases: connection.map(leaseFrom, 'SELECT * FROM leases WHERE run_id = ?', id),
    facts: {
      count: integer(facts, 'facts'),
      first: integerOrNull(facts, 'first') ?? 0,
      last: integerOrNull(facts, 'last') ?? 0,
    },
  });
}

/** A run with undelivered batches has exactly one head, its oldest; otherwise they would never be delivered. */
function outboxProblems(connection: Connection): readonly RowProblem[] {
  return connection
    .all(
      `SELECT run_id FROM outbox GROUP BY run_id
        HAVING sum(is_head) <> 1 OR min(first) <> min(CASE WHEN is_head = 1 THEN first END)`,
    )
    .map((row) => ({
      code: 'OutboxHead',
      entity: text(row, 'run_id'),
      message: 'the oldest undelivered batch is not the head',
    }));
}

function copyProblems(connection: Connection): readonly RowProblem[] {
  return connection
    .all(
      `SELECT jobs.id FROM jobs JOIN runs ON runs.id = jobs.run_id
        WHERE jobs.priority <> runs.priority AND jobs.finished_at IS NULL LIMIT 20`,
    )
    .map((row) => ({
      code: 'PriorityCopy',
      entity: text(row, 'id'),
      message: 'the job has another priority than its run',
    }));
}
