/**
 * The next jobs to grant, without a lock. The index keeps one ordered list per distinct set of capabilities: the few sets
 * are found by skipping from one to the next, those the session covers are read `limit` deep, and merged.
 */
import type { EligibleJob, Store } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { Statement } from './database.ts';
import { rowsAs } from './select-lists.ts';

const columns = `run_id AS "runId", id AS "jobId", node, priority, eligible_at AS "eligibleAt", capabilities,
  refused_by AS "refusedBy", cache_key AS "cacheKey"`;

/** All eligible jobs of a run have its priority, so the list of one run is entered at the right place. */
const eligibleIn = (ofRun: string): string => `
  WITH RECURSIVE sets (key) AS (
    (SELECT capability_key FROM forgeyard.jobs WHERE queue = 'Eligible' ORDER BY capability_key LIMIT 1)
    UNION ALL
    SELECT (SELECT j.capability_key FROM forgeyard.jobs j WHERE j.queue = 'Eligible' AND j.capability_key > sets.key
      ORDER BY j.capability_key LIMIT 1)
    FROM sets WHERE sets.key IS NOT NULL
  )
  SELECT ${columns} FROM sets CROSS JOIN LATERAL (
    SELECT j.* FROM forgeyard.jobs j WHERE j.queue = 'Eligible' AND j.capability_key = sets.key ${ofRun}
    ORDER BY j.priority DESC, j.eligible_at, j.run_id, j.idx LIMIT $2
  ) first WHERE sets.key <@ $1::text[] ORDER BY priority DESC, eligible_at, run_id, idx LIMIT $2`;

const anyRun: Statement = { name: 'eligible', text: eligibleIn('') };
const oneRun: Statement = {
  name: 'eligible_in_run',
  text: eligibleIn('AND j.run_id = $3 AND j.priority = (SELECT r.priority FROM forgeyard.runs r WHERE r.id = $3)'),
};

export function eligibleMethods({ database }: PostgresContext): Pick<Store, 'eligible'> {
  return {
    async eligible({ capabilities, limit, runId }) {
      const rows =
        runId === undefined
          ? await database.query(anyRun, [capabilities, limit])
          : await database.query(oneRun, [capabilities, limit, runId]);
      return rowsAs<EligibleJob>(rows);
    },
  };
}
