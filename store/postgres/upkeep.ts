/** Reconciler scans and their progress, action cache, references to outputs. */
import type { Digest } from '../../machines/index.ts';
import type { CacheEntry, ReconcileProgress, ScanItem, ScanKind, Store } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { Statement } from './database.ts';
import { executeRepeatedly } from './execute-repeatedly.ts';
import { jsonText, plainText } from './json-text.ts';
import { cacheColumns, progressColumns, rowAs, rowsAs } from './select-lists.ts';

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

/** Each is served by a partial index. */
const scans: Readonly<Record<ScanKind, { readonly from: string; readonly run: string }>> = {
  'active-runs': { from: 'forgeyard.runs WHERE finished_at IS NULL', run: 'id' },
  'lost-jobs': { from: `forgeyard.jobs WHERE queue = 'Lost'`, run: 'run_id' },
  'live-leases': { from: 'forgeyard.leases WHERE finished_at IS NULL', run: 'run_id' },
  'due-retries': {
    from: `forgeyard.jobs WHERE queue = 'RetryWaiting' AND retry_not_before <= $4`,
    run: 'run_id',
  },
};

function scanStatement(kind: ScanKind): Statement {
  const { from, run } = scans[kind];
  return {
    name: `scan_${kind}`,
    text: `SELECT ${run} AS "runId", id AS entity FROM ${from} AND (${run}, id) > ($1, $2) AND $4::bigint IS NOT NULL
      ORDER BY ${run}, id LIMIT $3`,
  };
}

const progressOf: Statement = {
  name: 'progress',
  text: `SELECT ${progressColumns} FROM forgeyard.reconcile_progress WHERE id = $1`,
};
const saveProgress: Statement = {
  name: 'save_progress',
  text: `INSERT INTO forgeyard.reconcile_progress (id, cursor, started_at, completed_at, last_error) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE SET cursor = excluded.cursor, started_at = excluded.started_at,
      completed_at = excluded.completed_at, last_error = excluded.last_error`,
};
const entryOf: Statement = {
  name: 'cache_entry',
  text: `SELECT ${cacheColumns} FROM forgeyard.cache_entries WHERE project = $1 AND key = $2 AND spec_digest = $3`,
};
const putEntry: Statement = {
  name: 'put_cache_entry',
  text: `INSERT INTO forgeyard.cache_entries (project, key, spec_digest, outputs, run_id, job_id, created_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7)
    ON CONFLICT (project, key, spec_digest) DO UPDATE SET outputs = excluded.outputs, run_id = excluded.run_id,
      job_id = excluded.job_id, created_at = excluded.created_at`,
};
const dropEntry: Statement = {
  name: 'drop_cache_entry',
  text: 'DELETE FROM forgeyard.cache_entries WHERE project = $1 AND key = $2 AND spec_digest = $3',
};
const digests: Statement = {
  name: 'digests',
  text: `SELECT DISTINCT file->>'digest' AS digest FROM (
      SELECT outputs AS files FROM forgeyard.cache_entries
      UNION ALL SELECT outputs FROM forgeyard.jobs WHERE outputs::text <> '[]'
      UNION ALL SELECT outputs FROM forgeyard.attempts WHERE outputs::text <> '[]'
      UNION ALL SELECT reports FROM forgeyard.attempts WHERE reports::text <> '[]'
    ) lists CROSS JOIN LATERAL json_array_elements(files) AS file`,
};

export function upkeepMethods({ database, clock }: PostgresContext): UpkeepMethods {
  return {
    async scan({ kind, cursor, limit }) {
      const slash = cursor?.indexOf('/') ?? -1;
      const [run, entity] = cursor === null ? ['', ''] : [cursor.slice(0, slash), cursor.slice(slash + 1)];
      const rows = await database.query(scanStatement(kind), [run, entity, limit + 1, clock.now()]);
      const items = rowsAs<ScanItem>(rows).slice(0, limit);
      const last = items.at(-1);
      return { items, next: last === undefined || rows.length <= limit ? null : `${last.runId}/${last.entity}` };
    },
    async reconcileProgress(id) {
      const [row] = await database.query(progressOf, [id]);
      return row === undefined ? null : rowAs<ReconcileProgress>(row);
    },
    async saveReconcileProgress({ id, cursor, startedAt, completedAt, lastError }) {
      await executeRepeatedly(database, saveProgress, [id, cursor, startedAt, completedAt, plainText(lastError)]);
    },
    async cacheLookup({ project, key, specDigest }) {
      const [row] = await database.query(entryOf, [project, key, specDigest]);
      return row === undefined ? null : rowAs<CacheEntry>(row);
    },
    async cachePut({ project, key, specDigest, outputs, runId, jobId, createdAt }) {
      const values = [project, key, specDigest, jsonText(outputs), runId, jobId, createdAt];
      await executeRepeatedly(database, putEntry, values);
    },
    async cacheInvalidate({ project, key, specDigest }) {
      await executeRepeatedly(database, dropEntry, [project, key, specDigest]);
    },
    async *referencedDigests() {
      for (const row of await database.query(digests)) yield row.digest as Digest;
    },
  };
}
