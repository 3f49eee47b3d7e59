/** Reconciler scans and their progress, action cache, references to outputs. */
import type { Digest, OutputRef } from '../../machines/index.ts';
import type { CacheEntry, ReconcileProgress, ScanItem, ScanKind, Store } from '../contract.ts';
import type { Connection, SqlRow, SqlValue } from './connection.ts';
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

interface Scan {
  readonly from: string;
  readonly run: string;
  readonly entity: string;
  /** What orders the entities of one run, by the index that serves the scan. */
  readonly place: string;
}
const liveRuns = `runs WHERE state IN ('Queued','Running','Cancelling')`;
const liveLeases = `leases WHERE state IN ('Offered','Held')`;
const dueRetries = `jobs WHERE state = 'RetryWaiting' AND retry_not_before <= ?1`;
const scans: Readonly<Record<ScanKind, Scan>> = {
  'active-runs': { from: liveRuns, run: 'id', entity: 'id', place: 'id' },
  'lost-jobs': { from: `jobs WHERE state = 'Lost'`, run: 'run_id', entity: 'id', place: 'id' },
  'live-leases': { from: liveLeases, run: 'run_id', entity: 'id', place: 'job_index' },
  'due-retries': { from: dueRetries, run: 'run_id', entity: 'id', place: 'id' },
};

/** `now` is bound first, everywhere, so that one call serves all. */
function scanSql(kind: ScanKind): string {
  const { from, run, entity, place } = scans[kind];
  return `SELECT ${run} AS run_id, ${entity} AS entity, ${place} AS place FROM ${from} AND ?1 IS NOT NULL
    AND (${run}, ${place}) > (?2, ?3) ORDER BY ${run}, ${place} LIMIT ?4`;
}

/** Where the next page begins: run and place of the last item. Before everything when there is none. */
function cursorValues(kind: ScanKind, cursor: string | null): readonly SqlValue[] {
  if (cursor === null) return ['', ''];
  const slash = cursor.lastIndexOf('/');
  const place = cursor.slice(slash + 1);
  return [cursor.slice(0, slash), scans[kind].place === 'job_index' ? Number(place) : place];
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
      const rows = connection.all(scanSql(kind), clock.now(), ...cursorValues(kind, cursor), limit + 1);
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const next = last === undefined || rows.length <= limit ? null : `${last.run_id}/${last.place}`;
      return {
        items: page.map((row): ScanItem => ({ runId: text(row, 'run_id'), entity: text(row, 'entity') })),
        next,
      };
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
