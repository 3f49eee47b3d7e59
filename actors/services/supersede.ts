/** A new run of a concurrency group ends the older ones that are still active (000 §129-132). */
import type { ExecutablePlan, RunId, RunRow } from '../../machines/index.ts';
import type { Directory } from '../directory.ts';
import type { Envelope } from '../envelope.ts';
import { internal } from '../envelope.ts';
import type { Ports } from '../ports.ts';

const active = ['Queued', 'Running'] as const;

/** Idempotent; the run reconciler calls it again for a run whose creator died in between. */
export async function supersedeOlder(
  ports: Pick<Ports, 'store' | 'limits'>,
  directory: Directory,
  run: RunRow,
  plan: ExecutablePlan,
  by: { readonly actor: string; readonly audited?: (older: RunId) => Envelope['audited'] },
): Promise<readonly RunId[]> {
  if (plan.concurrency?.supersede !== true) return [];
  const superseded: RunId[] = [];
  let cursor: string | null = null;
  do {
    const page = await ports.store.runs(
      { project: run.project, concurrencyGroup: plan.concurrency.group, states: active },
      { limit: ports.limits.pageMax, cursor },
    );
    for (const other of page.items) {
      if (!isOlder(other, run)) continue;
      const envelope = internal({ type: 'SupersedeRun', by: run.id }, by.actor, {
        audited: by.audited?.(other.id) ?? null,
      });
      const result = await directory.actor(other.id).send(envelope);
      if (result.outcome === 'accepted') superseded.push(other.id);
    }
    cursor = page.next;
  } while (cursor !== null);
  return superseded;
}

/** Two runs created at the same time agree on which of them is the newer one. */
function isOlder(other: RunRow, run: RunRow): boolean {
  if (other.id === run.id) return false;
  return other.createdAt < run.createdAt || (other.createdAt === run.createdAt && other.id < run.id);
}
