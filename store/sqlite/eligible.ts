/**
 * The next jobs to grant. The index keeps one ordered list per distinct set of capabilities: the few sets are found by
 * skipping from one to the next, those the session covers are read `limit` deep, and merged. Nothing is sorted.
 */
import type { EligibleJob, Store } from '../contract.ts';
import type { Connection, SqlRow } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { integer, list, text, textOrNull } from './rows/read-columns.ts';

const distinctSets = `WITH RECURSIVE sets (key) AS (
    SELECT (SELECT min(capability_key) FROM jobs WHERE state = 'Eligible')
    UNION ALL
    SELECT (SELECT min(capability_key) FROM jobs WHERE state = 'Eligible' AND capability_key > sets.key) FROM sets
    WHERE sets.key IS NOT NULL)
  SELECT key FROM sets WHERE key IS NOT NULL`;
const columns = 'run_id, idx, id, node, priority, eligible_at, capabilities, refused_by, cache_key';
const order = 'ORDER BY priority DESC, eligible_at, run_id, idx LIMIT ?';
const firstOfSet = `SELECT ${columns} FROM jobs INDEXED BY jobs_eligible WHERE state = 'Eligible' AND capability_key = ? ${order}`;
/**
 * All eligible jobs of a run have its priority, so the list is entered at the right place. The plus keeps the planner
 * from taking `run_id` for a constant of the order, which would make it sort the whole list.
 */
const firstOfSetInRun = `SELECT ${columns} FROM jobs INDEXED BY jobs_eligible WHERE state = 'Eligible' AND capability_key = ?
  AND priority = (SELECT priority FROM runs WHERE id = ?) AND +run_id = ? ${order}`;

export function eligibleMethods({ connection }: SqliteContext): Pick<Store, 'eligible'> {
  return {
    async eligible({ capabilities, limit, runId }) {
      const offered = new Set(capabilities);
      const found = connection.read(() =>
        setsCoveredBy(connection, offered).flatMap((key) =>
          runId === undefined
            ? connection.all(firstOfSet, key, limit)
            : connection.all(firstOfSetInRun, key, runId, runId, limit),
        ),
      );
      return [...found].sort(compareRows).slice(0, limit).map(eligibleFrom);
    },
  };
}

function setsCoveredBy(connection: Connection, offered: ReadonlySet<string>): readonly string[] {
  return connection
    .all(distinctSets)
    .filter((row) => list<string>(row, 'key').every((capability) => offered.has(capability)))
    .map((row) => text(row, 'key'));
}

function compareRows(a: SqlRow, b: SqlRow): number {
  const runs = text(a, 'run_id') < text(b, 'run_id') ? -1 : text(a, 'run_id') > text(b, 'run_id') ? 1 : 0;
  return (
    integer(b, 'priority') - integer(a, 'priority') ||
    integer(a, 'eligible_at') - integer(b, 'eligible_at') ||
    runs ||
    integer(a, 'idx') - integer(b, 'idx')
  );
}

function eligibleFrom(row: SqlRow): EligibleJob {
  return {
    runId: text(row, 'run_id'),
    jobId: text(row, 'id'),
    node: text(row, 'node'),
    priority: integer(row, 'priority'),
    eligibleAt: integer(row, 'eligible_at'),
    capabilities: list(row, 'capabilities'),
    refusedBy: list(row, 'refused_by'),
    cacheKey: textOrNull(row, 'cache_key'),
  };
}
