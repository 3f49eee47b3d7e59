/** The next jobs to grant, read without a lock: whoever grants first wins by compare-and-set. */
import type { EligibleJob, Store } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { Statement } from './database.ts';
import { rowsAs } from './select-lists.ts';

/** The function answers one ordered list per set of capabilities, each already as short as asked for. */
const eligible: Statement = {
  name: 'eligible_v1',
  text: `SELECT e.run_id AS "runId", e.job_id AS "jobId", e.node, e.priority, e.eligible_at AS "eligibleAt", e.capabilities,
      e.refused_by AS "refusedBy", e.cache_key AS "cacheKey"
    FROM forgeyard.eligible_v1($1, $2, $3) WITH ORDINALITY AS e(run_id, job_id, node, priority, eligible_at, capabilities,
      refused_by, cache_key, place)
    ORDER BY e.priority DESC, e.eligible_at, e.run_id COLLATE "C", e.place LIMIT $2`,
};

export function eligibleMethods({ database }: PostgresContext): Pick<Store, 'eligible'> {
  return {
    async eligible({ capabilities, limit, runId }) {
      return rowsAs<EligibleJob>(await database.query(eligible, [capabilities, limit, runId ?? null]));
    },
  };
}
