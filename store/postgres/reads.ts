/** Everything that only looks: loading a run, lists, history, searches. */
import type { AttemptRow, GateRow, JobRow, JobState, LeaseRow, RunId, RunRow } from '../../machines/index.ts';
import type { LoadedRun, Receipt, RunCounts, Store, StoredFact } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { Database, SqlRow, Statement, Transaction } from './database.ts';
import { listRuns } from './run-list.ts';
import {
  afterEveryId,
  attemptColumns,
  factColumns,
  gateColumns,
  jobColumns,
  leaseColumns,
  receiptColumns,
  rowAs,
  rowsAs,
  runColumns,
} from './select-lists.ts';

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

export function readMethods({ database, plans }: PostgresContext): ReadMethods {
  return {
    async load(runId) {
      const rows = await loadRows(database, runId, 'current');
      if (rows === null) return null;
      const { run, nodes, attempts, leases } = rows;
      return { run, plan: await plans.load(run.planDigest), nodes, attempts, leases };
    },
    async sequence(runId) {
      const [row] = await database.query(sequenceOfRun, [runId]);
      return row === undefined ? null : Number(row.sequence);
    },
    async receipts(runId, messages) {
      const found = rowsAs<Receipt>(await database.query(receiptsOf, [runId, messages]));
      const byMessage = new Map(found.map((receipt) => [receipt.messageId, receipt]));
      return messages.flatMap((id) => byMessage.get(id) ?? []);
    },
    async findRunByRequest(project, requestId) {
      const [row] = await database.query(runOfRequest, [project, requestId]);
      return row === undefined ? null : rowAs<RunRow>(row);
    },
    async attempts(runId, { job, ids }) {
      return rowsAs<AttemptRow>(await database.query(attemptsOf, [runId, job ?? null, ids ?? null]));
    },
    async leases(runId, { job, live }) {
      const onlyLive = live ?? (job === undefined ? true : null);
      return rowsAs<LeaseRow>(await database.query(leasesOf, [runId, job ?? null, onlyLive]));
    },
    async facts(runId, { after, limit }) {
      return rowsAs<StoredFact>(await database.query(factsOf, [runId, after, limit]));
    },
    async feed({ after, limit }) {
      const rows = await database.query(feedPage, [after, limit]);
      const last = rows.at(-1);
      return { items: rows.map(withoutPosition), next: last === undefined ? null : Number(last.position) };
    },
    runs: (filter, page) => listRuns(database, filter, page),
    async counts(runIds) {
      return countsFrom(await database.query(jobCounts, [runIds]));
    },
    async findJobs({ idPrefix, limit }) {
      return rowsAs<JobRow>(await database.query(jobsByPrefix, [idPrefix, idPrefix + afterEveryId, limit]));
    },
    async findGates({ idPrefix, limit }) {
      return rowsAs<GateRow>(await database.query(gatesByPrefix, [idPrefix, idPrefix + afterEveryId, limit]));
    },
  };
}

const sequenceOfRun: Statement = { name: 'sequence', text: 'SELECT sequence FROM forgeyard.runs WHERE id = $1' };
const receiptsOf: Statement = {
  name: 'receipts',
  text: `SELECT ${receiptColumns} FROM forgeyard.receipts WHERE run_id = $1 AND message_id = ANY ($2)`,
};
const runOfRequest: Statement = {
  name: 'run_of_request',
  text: `SELECT ${runColumns} FROM forgeyard.runs WHERE project = $1 AND request_id = $2`,
};
const ofJob = (table: string): string =>
  `($2::text IS NULL OR ${table}.job_index = (SELECT j.idx FROM forgeyard.jobs j WHERE j.run_id = $1 AND j.id = $2))`;
const attemptsOf: Statement = {
  name: 'attempts',
  text: `SELECT ${attemptColumns} FROM forgeyard.attempts WHERE run_id = $1 AND ${ofJob('attempts')}
    AND ($3::text[] IS NULL OR id = ANY ($3)) ORDER BY job_index, number`,
};
const leasesOf: Statement = {
  name: 'leases',
  text: `SELECT ${leaseColumns} FROM forgeyard.leases WHERE run_id = $1 AND ${ofJob('leases')}
    AND ($3::boolean IS NULL OR (finished_at IS NULL) = $3) ORDER BY job_index, epoch`,
};
const factsOf: Statement = {
  name: 'facts',
  text: `SELECT ${factColumns} FROM forgeyard.events WHERE run_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3`,
};

/**
 * A reader that has seen position 7 must never be handed 5 later: facts come in the order of their transactions, and only
 * those older than every transaction that may still commit. Transactions of other databases of the server do not count;
 * one that has vanished between the snapshot and the look at the sessions does, until the next look.
 */
const feedPage: Statement = {
  name: 'feed',
  text: `WITH elsewhere AS MATERIALIZED (
      SELECT backend_xid FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND datname <> current_database()
    ), fence AS MATERIALIZED (
      SELECT coalesce((
        SELECT running FROM pg_snapshot_xip(pg_current_snapshot()) AS running
        WHERE running::xid NOT IN (SELECT backend_xid FROM elsewhere) ORDER BY running LIMIT 1
      ), pg_snapshot_xmax(pg_current_snapshot())) AS oldest
    )
    SELECT position, ${factColumns} FROM forgeyard.events
    WHERE (tx, position) > (coalesce((SELECT tx FROM forgeyard.events WHERE position = $1), '0'::xid8), $1::bigint)
      AND tx < (SELECT oldest FROM fence) ORDER BY tx, position LIMIT $2`,
};
const jobCounts: Statement = {
  name: 'job_counts',
  text: `SELECT run_id, state, count(*) AS jobs FROM forgeyard.jobs WHERE run_id = ANY ($1) GROUP BY run_id, state ORDER BY run_id`,
};
const jobsByPrefix: Statement = {
  name: 'jobs_by_prefix',
  text: `SELECT ${jobColumns} FROM forgeyard.jobs WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
};
const gatesByPrefix: Statement = {
  name: 'gates_by_prefix',
  text: `SELECT ${gateColumns} FROM forgeyard.gates WHERE id >= $1 AND id < $2 ORDER BY id DESC LIMIT $3`,
};

/** One statement, so one snapshot; as JSON, because rows of four kinds come in one answer. */
const rowsOfRun = (attempts: string, leases: string): string => `
  SELECT 'run' AS kind, row_to_json(r) AS row FROM (SELECT ${runColumns} FROM forgeyard.runs WHERE id = $1) r
  UNION ALL
  SELECT 'node', row_to_json(j) FROM (SELECT ${jobColumns} FROM forgeyard.jobs WHERE run_id = $1 ORDER BY idx) j
  UNION ALL
  SELECT 'node', row_to_json(g) FROM (SELECT ${gateColumns} FROM forgeyard.gates WHERE run_id = $1 ORDER BY idx) g
  UNION ALL
  SELECT 'attempt', row_to_json(a) FROM (SELECT ${attemptColumns} FROM forgeyard.attempts WHERE run_id = $1 ${attempts}
    ORDER BY job_index, number) a
  UNION ALL
  SELECT 'lease', row_to_json(l) FROM (SELECT ${leaseColumns} FROM forgeyard.leases WHERE run_id = $1 ${leases}
    ORDER BY job_index, epoch) l`;
const loads: Readonly<Record<'current' | 'all', Statement>> = {
  current: {
    name: 'load_current',
    text: rowsOfRun(
      `AND (job_index, id) IN (
        SELECT l.job_index, l.attempt_id FROM forgeyard.leases l WHERE l.run_id = $1 AND l.finished_at IS NULL)`,
      'AND finished_at IS NULL',
    ),
  },
  all: { name: 'load_all', text: rowsOfRun('', '') },
};

export type RowsOfRun = Omit<LoadedRun, 'plan'>;

export async function loadRows(
  database: Database | Transaction,
  runId: RunId,
  which: keyof typeof loads,
): Promise<RowsOfRun | null> {
  const kinds: Record<string, unknown[]> = { run: [], node: [], attempt: [], lease: [] };
  for (const { kind, row } of await database.query(loads[which], [runId])) kinds[String(kind)]?.push(row);
  const [run] = kinds.run as RunRow[];
  if (run === undefined) return null;
  const nodes = kinds.node as (JobRow | GateRow)[];
  nodes.sort((a, b) => a.index - b.index);
  return { run, nodes, attempts: kinds.attempt as AttemptRow[], leases: kinds.lease as LeaseRow[] };
}

function withoutPosition({ position: _position, ...fact }: SqlRow): StoredFact {
  return rowAs<StoredFact>(fact);
}

function countsFrom(rows: readonly SqlRow[]): ReadonlyMap<RunId, RunCounts> {
  const counts = new Map<RunId, { jobs: number; byState: Partial<Record<JobState, number>> }>();
  for (const { run_id, state, jobs } of rows) {
    const runId = run_id as RunId;
    const known = counts.get(runId) ?? { jobs: 0, byState: {} };
    known.jobs += Number(jobs);
    known.byState[state as JobState] = Number(jobs);
    counts.set(runId, known);
  }
  return counts;
}
