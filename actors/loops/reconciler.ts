/**
 * Reconcilers: scan persisted rows, let the pure rules find what is overdue or missing, and issue ordinary commands
 * (000 §161-166, 003 §60-66). They never write state themselves; a second pass finds nothing.
 */
import type { ReconcileIssue, RunId, SessionId } from '../../machines/index.ts';
import { reconcileRun } from '../../machines/index.ts';
import type { ReconcileReport } from '../api.ts';
import type { Directory } from '../directory.ts';
import { internal } from '../envelope.ts';
import type { Ports } from '../ports.ts';
import { supersedeOlder } from '../services/supersede.ts';
import type { SessionCache } from '../sessions.ts';

export type ReconcilerPorts = Ports & { readonly sessions: SessionCache };

export async function reconcileOne(
  ports: ReconcilerPorts,
  directory: Directory,
  run: RunId,
  options: { readonly dryRun: boolean; readonly actor: string },
): Promise<ReconcileReport> {
  const actor = directory.actor(run);
  await actor.refresh();
  const offered = await actor.read((aggregate) =>
    [...aggregate.leases.values()].map((lease): SessionId => lease.session),
  );
  if (offered === null) return { checked: 0, repaired: 0, deferred: 0, issues: [] };
  await ports.sessions.prefetch(offered);
  const now = ports.store.now();
  const issues =
    (await actor.read((aggregate) => reconcileRun(aggregate, { now, isSessionActive: ports.sessions.isActive }))) ?? [];
  if (options.dryRun) return { checked: 1, repaired: 0, deferred: issues.length, issues };
  let repaired = 0;
  for (const issue of issues) if (await repair(directory, run, issue, options.actor)) repaired += 1;
  const superseded = await actor.read((aggregate) => ({ run: aggregate.run, plan: aggregate.index.plan }));
  if (superseded !== null && superseded.run.finishedAt === null) {
    await supersedeOlder(ports, directory, superseded.run, superseded.plan, options.actor);
  }
  return { checked: 1, repaired, deferred: issues.length - repaired, issues };
}

async function repair(directory: Directory, run: RunId, issue: ReconcileIssue, actor: string): Promise<boolean> {
  if (issue.repair === null) return false;
  const result = await directory.actor(run).send(internal(issue.repair, actor));
  return result.outcome === 'accepted';
}

const progressId = 'runs';

/** One bounded pass over all active runs, resumable from its persisted cursor. */
export async function reconcileAll(
  ports: ReconcilerPorts,
  directory: Directory,
  actor: string,
): Promise<ReconcileReport> {
  const startedAt = ports.store.now();
  let cursor = (await ports.store.reconcileProgress(progressId))?.cursor ?? null;
  let report: ReconcileReport = { checked: 0, repaired: 0, deferred: 0, issues: [] };
  do {
    const page = await ports.store.scan({ kind: 'active-runs', cursor, limit: 100 });
    for (const item of page.items) {
      ports.failpoint('reconcile:mid-batch');
      const one = await reconcileOne(ports, directory, item.runId, { dryRun: false, actor });
      report = {
        checked: report.checked + one.checked,
        repaired: report.repaired + one.repaired,
        deferred: report.deferred + one.deferred,
        issues: [...report.issues, ...one.issues].slice(-ports.limits.pageMax),
      };
    }
    ports.failpoint('reconcile:before-cursor');
    cursor = page.next;
    const completedAt = cursor === null ? ports.store.now() : null;
    await ports.store.saveReconcileProgress({ id: progressId, cursor, startedAt, completedAt, lastError: null });
  } while (cursor !== null);
  return report;
}
