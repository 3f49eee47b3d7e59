/** Plans by digest. They never change, so the last few are kept parsed: a 100,000-job plan takes a while to read. */
import type { Digest, ExecutablePlan, Timestamp } from '../../machines/index.ts';
import type { Connection } from './connection.ts';
import { parsed } from './rows/read-columns.ts';

const plansKept = 4;

export interface PlanCache {
  save(digest: Digest, plan: ExecutablePlan, now: Timestamp): void;
  load(digest: Digest): ExecutablePlan;
}

export function createPlanCache(connection: Connection): PlanCache {
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
    save(digest, plan, now) {
      const known = connection.get('SELECT 1 FROM plans WHERE digest = ?', digest);
      if (known !== undefined) return;
      connection.run(
        'INSERT INTO plans (digest, json, created_at) VALUES (?, ?, ?)',
        digest,
        JSON.stringify(plan),
        now,
      );
    },
    load(digest) {
      const known = kept.get(digest);
      if (known !== undefined) return keep(digest, known);
      const row = connection.get('SELECT json FROM plans WHERE digest = ?', digest);
      if (row === undefined) throw new Error(`plan ${digest} is missing`);
      return keep(digest, parsed(row, 'json'));
    },
  };
}
