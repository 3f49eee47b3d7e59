/** Everything that only looks: loading a run, lists, history, searches. */
import type { JobState, NodeRow, RunId, RunRow } from '../../machines/index.ts';
import type { Receipt, RunCounts, RunFilter, Store } from '../contract.ts';
import type { Connection, SqlRow, SqlValue } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { attemptFrom } from './rows/attempt-rows.ts';
import { factFrom } from './rows/fact-rows.ts';
import { gateFrom } from './rows/gate-rows.ts';
import { jobFrom } from './rows/job-rows.ts';
import { leaseFrom } from './rows/lease-rows.ts';
import { integer, parsed, text, textOrNull } from './rows/read-columns.ts';
import { runFrom } from './rows/run-rows.ts';

type ReadMethods = Pick<
  Store,
  | 'load'
  | 'sequence'
  | 'receipts'
  | 'findRunByRequest'
  | 'attempts'
  | 'leases'
  | 'facts'
  | 'feed'
  | 'runs'
  | 'counts'
  | 'findJobs'
  | 'findGates'
>;

export function readMethods({ connection, plans }: SqliteContext): ReadMethods {
  return {
    async load(runId) {
      return connection.read(() => {
        const row = connection.get('SELECT * FROM runs WHERE id = ?', runId);
        if (row === undefined) return null;
        const run = runFrom(row);
        return {
          run,
          plan: plans.load(run.planDigest),
          nodes: nodesOf(connection, runId),
          attempts: connection.map(attemptFrom, currentAttempts, runId),
          leases: connection.map(leaseFrom, leasesWhere('live'), runId),
        };
      });
    },
    async sequence(runId) {
      return sequenceOf(connection, runId);
    },
    async receipts(runId, messages) {
      return connection.read(() =>
        messages.flatMap((id) =>
          connection.map(receiptFrom, 'SELECT * FROM receipts WHERE run_id = ? AND message_id = ?', runId, id),
        ),
      );
    },
    async findRunByRequest(project, requestId) {
      const row = connection.get('SELECT * FROM runs WHERE project = ? AND request_id = ?', project, requestId);
      return row === undefined ? null : runFrom(row);
    },
    async attempts(runId, { job, ids }) {
      const rows =
        job === undefined ? connection.all(allAttempts, runId) : connection.all(attemptsOfJob, runId, runId, job);
      const wanted = ids === undefined ? null : new Set<string>(ids);
      return rows.filter((row) => wanted === null || wanted.has(text(row, 'id'))).map(attemptFrom);
    },
    async leases(runId, { job, live }) {
      const which = (live ?? job === undefined) ? 'live' : live === false ? 'ended' : 'all';
      const rows =
        job === undefined
          ? connection.all(leasesWhere(which), runId)
          : connection.all(leasesOfJob(which), runId, runId, job);
      return rows.map(leaseFrom);
    },
    async facts(runId, { after, limit }) {
      return connection.map(
        factFrom,
        'SELECT * FROM events WHERE run_id = ? AND sequence > ? ORDER BY sequence LIMIT ?',
        runId,
        after,
        limit,
      );
    },
    async feed({ after, limit }) {
      const rows = connection.all('SELECT * FROM events WHERE position > ? ORDER BY position LIMIT ?', after, limit);
      const last = rows.at(-1);
      return { items: rows.map(factFrom), next: last === undefined ? null : integer(last, 'position') };
    },
    async runs(filter, { limit, cursor }) {
      const { where, values } = runsWhere(filter, cursor);
      const sql = `SELECT * FROM runs ${where} ORDER BY created_at DESC, id DESC LIMIT ?`;
      // One more than asked for tells whether there is a next page.
      const rows = connection.map(runFrom, sql, ...values, limit + 1);
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      return { items, next: last === undefined || rows.length <= limit ? null : cursorOf(last) };
    },
    async counts(runIds) {
      return connection.read(() => new Map(runIds.flatMap((id) => countsOf(connection, id))));
    },
    async findJobs({ idPrefix, limit }) {
      return connection.map(jobFrom, withPrefix('jobs'), idPrefix, idPrefix + afterEveryId, limit);
    },
    async findGates({ idPrefix, limit }) {
      return connection.map(gateFrom, withPrefix('gates'), idPrefix, idPrefix + afterEveryId, limit);
    },
  };
}

const currentAttempts = `SELECT attempts.* FROM leases JOIN attempts ON attempts.id = leases.attempt_id
  WHERE leases.run_id = ? AND leases.state IN ('Offered','Held') ORDER BY leases.job_index`;
const allAttempts = 'SELECT * FROM attempts WHERE run_id = ? ORDER BY job_index, number';
const indexOfJob = '(SELECT idx FROM jobs WHERE run_id = ? AND id = ?)';
const attemptsOfJob = `SELECT * FROM attempts WHERE run_id = ? AND job_index = ${indexOfJob} ORDER BY number`;

const leaseStates = { live: `AND state IN ('Offered','Held')`, ended: `AND state NOT IN ('Offered','Held')`, all: '' };
const leasesWhere = (which: keyof typeof leaseStates): string =>
  `SELECT * FROM leases WHERE run_id = ? ${leaseStates[which]} ORDER BY job_index, epoch`;
const leasesOfJob = (which: keyof typeof leaseStates): string =>
  `SELECT * FROM leases WHERE run_id = ? AND job_index = ${indexOfJob} ${leaseStates[which]} ORDER BY epoch`;

/** Greater than every character an id may hold. */
const afterEveryId = '\u{10FFFF}';
const withPrefix = (table: 'jobs' | 'gates'): string =>
  `SELECT * FROM ${table} WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?`;

export function sequenceOf(connection: Connection, runId: RunId): number | null {
  const row = connection.get('SELECT sequence FROM runs WHERE id = ?', runId);
  return row === undefined ? null : integer(row, 'sequence');
}

/** All nodes in plan order; jobs and gates lie in two tables, each in that order. */
export function nodesOf(connection: Connection, runId: RunId): readonly NodeRow[] {
  const jobs: NodeRow[] = connection.map(jobFrom, 'SELECT * FROM jobs WHERE run_id = ? ORDER BY idx', runId);
  const gates: NodeRow[] = connection.map(gateFrom, 'SELECT * FROM gates WHERE run_id = ? ORDER BY idx', runId);
  return gates.length === 0 ? jobs : [...jobs, ...gates].sort((a, b) => a.index - b.index);
}

function countsOf(connection: Connection, runId: RunId): readonly (readonly [RunId, RunCounts])[] {
  const rows = connection.all('SELECT state, count(*) AS jobs FROM jobs WHERE run_id = ? GROUP BY state', runId);
  if (rows.length === 0) return [];
  const byState: Partial<Record<JobState, number>> = {};
  for (const row of rows) byState[text<JobState>(row, 'state')] = integer(row, 'jobs');
  return [[runId, { jobs: rows.reduce((sum, row) => sum + integer(row, 'jobs'), 0), byState }]];
}

function receiptFrom(row: SqlRow): Receipt {
  return {
    messageId: text(row, 'message_id'),
    command: text(row, 'command'),
    outcome: text(row, 'outcome'),
    code: textOrNull(row, 'code'),
    reply: parsed(row, 'reply'),
    at: integer(row, 'at'),
  };
}

const cursorOf = (run: RunRow): string => `${run.createdAt}:${run.id}`;

/** Only the conditions that are asked for, so that the planner can use the index of the one that is. */
function runsWhere(
  filter: RunFilter,
  cursor: string | null,
): { readonly where: string; readonly values: readonly SqlValue[] } {
  const { project, states, concurrencyGroup, idPrefix } = filter;
  const conditions: (readonly [string, ...SqlValue[]])[] = [];
  if (project !== undefined) conditions.push(['project = ?', project]);
  if (states !== undefined) conditions.push(['state IN (SELECT value FROM json_each(?))', JSON.stringify(states)]);
  if (concurrencyGroup !== undefined) conditions.push(['concurrency_group = ?', concurrencyGroup]);
  if (idPrefix !== undefined) conditions.push(['id >= ? AND id < ?', idPrefix, idPrefix + afterEveryId]);
  if (cursor !== null) {
    const colon = cursor.indexOf(':');
    conditions.push(['(created_at, id) < (?, ?)', Number(cursor.slice(0, colon)), cursor.slice(colon + 1)]);
  }
  const where = conditions.map(([condition]) => condition).join(' AND ');
  return { where: where === '' ? '' : `WHERE ${where}`, values: conditions.flatMap(([, ...values]) => values) };
}
