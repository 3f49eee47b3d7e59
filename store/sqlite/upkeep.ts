/** Reconciler scans and their progress, action cache, references to outputs. */
import type { Digest, OutputRef } from '../../machines/index.ts';
import type { CacheEntry, ReconcileProgress, ScanItem, ScanKind, Store } from '../contract.ts';
import type { Connection, SqlRow } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { integer, integerOrNull, list, text, textOrNull } from './rows/read-columns.ts';

type UpkeepMethods = Pick<
  Store,
  | 'scan'
  | 'reconcileProgress'
  | 'saveReconcileProgress'
  | 'cacheLookup'
  | 'cachePut'
  | 'cacheInvalidate'
  | 'referencedDigests'
>;

/** Each is served by a partial index. `now` is bound first, everywhere, so that one call serves all. */
const scans: Readonly<Record<ScanKind, { readonly from: string; readonly run: string; readonly entity: string }>> = {
  'active-runs': { from: `runs WHERE state IN ('Queued','Running','Cancelling')`, run: 'id', entity: 'id' },
  'lost-jobs': { from: `jobs WHERE state = 'Lost'`, run: 'run_id', entity: 'id' },
  'live-leases': { from: `leases WHERE state IN ('Offered','Held')`, run: 'run_id', entity: 'id' },
  'due-retries': { from: `jobs WHERE state = 'RetryWaiting' AND retry_not_before <= ?1`, run: 'run_id', entity: 'id' },
};

function scanSql(kind: ScanKind): string {
  const { from, run, entity } = scans[kind];
  return `SELECT ${run} AS run_id, ${entity} AS entity FROM ${from} AND ?1 IS NOT NULL AND (${run}, ${entity}) > (?2, ?3)
    ORDER BY ${run}, ${entity} LIMIT ?4`;
}

const putEntry = `INSERT OR REPLACE INTO cache_entries (project, key, spec_digest, outputs, run_id, job_id, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const saveProgress = `INSERT OR REPLACE INTO reconcile_progress (id, cursor, started_at, completed_at, last_error) VALUES (?, ?, ?, ?, ?)`;
const outputsOfRun = `SELECT outputs AS files FROM jobs WHERE run_id = ?1 AND outputs <> '[]'
  UNION ALL SELECT outputs FROM attempts WHERE run_id = ?1 AND outputs <> '[]'
  UNION ALL SELECT reports FROM attempts WHERE run_id = ?1 AND reports <> '[]'`;

export function upkeepMethods({ connection, clock }: SqliteContext): UpkeepMethods {
  return {
    async scan({ kind, cursor, limit }) {
      const slash = cursor?.indexOf('/') ?? -1;
      const [run, entity] = cursor === null ? ['', ''] : [cursor.slice(0, slash), cursor.slice(slash + 1)];
      const rows = connection
        .all(scanSql(kind), clock.now(), run, entity, limit + 1)
        .map((row): ScanItem => ({ runId: text(row, 'run_id'), entity: text(row, 'entity') }));
      const items = rows.slice(0, limit);
      const last = items.at(-1);
      return { items, next: last === undefined || rows.length <= limit ? null : `${last.runId}/${last.entity}` };
    },
    async reconcileProgress(id) {
      const row = connection.get('SELECT * FROM reconcile_progress WHERE id = ?', id);
      return row === undefined ? null : progressFrom(row);
    },
    async saveReconcileProgress({ id, cursor, startedAt, completedAt, lastError }) {
      connection.write(() => connection.run(saveProgress, id, cursor, startedAt, completedAt, lastError));
    },
    async cacheLookup({ project, key, specDigest }) {
      const row = connection.get(
        'SELECT * FROM cache_entries WHERE project = ? AND key = ? AND spec_digest = ?',
        project,
        key,
        specDigest,
      );
      return row === undefined ? null : entryFrom(row);
    },
    async cachePut({ project, key, specDigest, outputs, runId, jobId, createdAt }) {
      connection.write(() =>
        connection.run(putEntry, project, key, specDigest, JSON.stringify(outputs), runId, jobId, createdAt),
      );
    },
    async cacheInvalidate({ project, key, specDigest }) {
      connection.write(() =>
        connection.run(
          'DELETE FROM cache_entries WHERE project = ? AND key = ? AND spec_digest = ?',
          project,
          key,
          specDigest,
        ),
      );
    },
    async *referencedDigests() {
      const seen = new Set<Digest>();
      for (const files of outputLists(connection)) {
        for (const { digest } of files) {
          if (seen.has(digest)) continue;
          seen.add(digest);
          yield digest;
        }
      }
    },
  };
}

/** Run by run, each read at once: a statement left open between two awaits would keep the log from being checkpointed. */
function* outputLists(connection: Connection): Generator<readonly OutputRef[]> {
  const files = (row: SqlRow) => list<OutputRef>(row, 'files');
  yield* connection.map(files, 'SELECT outputs AS files FROM cache_entries');
  for (const row of connection.all('SELECT id FROM runs')) yield* connection.map(files, outputsOfRun, text(row, 'id'));
}

function progressFrom(row: SqlRow): ReconcileProgress {
  return {
    id: text(row, 'id'),
    cursor: textOrNull(row, 'cursor'),
    startedAt: integer(row, 'started_at'),
    completedAt: integerOrNull(row, 'completed_at'),
    lastError: textOrNull(row, 'last_error'),
  };
}

function entryFrom(row: SqlRow): CacheEntry {
  return {
    project: text(row, 'project'),
    key: text(row, 'key'),
    specDigest: text(row, 'spec_digest'),
    outputs: list(row, 'outputs'),
    runId: text(row, 'run_id'),
    jobId: text(row, 'job_id'),
    createdAt: integer(row, 'created_at'),
  };
}
