/** Plans by digest. They never change, so the last few are kept parsed: a 100,000-job plan takes a while to read. */
import type { Digest, ExecutablePlan } from '../../machines/index.ts';
import type { Database, Statement } from './database.ts';

const plansKept = 4;
const planByDigest: Statement = { name: 'plan', text: 'SELECT plan FROM forgeyard.plans WHERE digest = $1' };

export interface PlanCache {
  load(digest: Digest): Promise<ExecutablePlan>;
}

export function createPlanCache(database: Database): PlanCache {
  const kept = new Map<Digest, ExecutablePlan>();
  const keep = (digest: Digest, plan: ExecutablePlan): ExecutablePlan => {
    kept.delete(digest);
    kept.set(digest, plan);
    for (const oldest of kept.keys()) {
      if (kept.size <= plansKept) break;
      kept.delete(oldest);
    }
    return plan;
  };
  return {
    async load(digest) {
      const known = kept.get(digest);
      if (known !== undefined) return keep(digest, known);
      const [row] = await database.query(planByDigest, [digest]);
      if (row === undefined) throw new Error(`plan ${digest} is missing`);
      return keep(digest, row.plan as ExecutablePlan);
    },
  };
}
