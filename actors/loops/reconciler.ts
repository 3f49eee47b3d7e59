/**
 * Reconcilers: scan persisted rows, let the pure rules find what is overdue or missing, and issue ordinary commands
 * (000 §161-166, 003 §60-66). They never write state themselves; a second pass finds nothing.
 */
import type { ReconcileIssue, RunId, SessionId } from '../../machines/index.ts';
import { reconcileRun } from '../../machines/index.ts';
import type { ReconcileReport } from '../api.ts';
import type { Directory } from '../directory.ts';
import type { Envelope } from '../envelope.ts';
import { internal } from '../envelope.ts';
import type { Ports } from '../ports.ts';
import { supersedeOlder } from '../services/supersede.ts';
import type { SessionCache } from '../sessions.ts';

export type ReconcilerPorts = Ports & { readonly sessions: SessionCache };

export interface ReconcileOptions {
  readonly dryRun: boolean;
  readonly actor: string;
  /** A person asked for this pass: each repair leaves an audit entry in its own commit. Null when it came by itself. */
  readonly asked: { readonly message: string | null } | null;
}

export async function reconcileOne(
  ports: ReconcilerPorts,
  directory: Directory,
  run: RunId,
  options: ReconcileOptions,
): Promise<ReconcileReport> {
  const actor = directory.actor(run);
  await actor.refresh();
  const offered = await actor.read((aggregate) =>
    [...aggregate.leases.values()].map((lease): SessionId => lease.session),
  );
  if (offered === null) return { checked: 0, repaired: 0, deferred: 0, issues: [] };
  // Another process may have ended a session since this one looked.
  for (const session of offered) ports.sessions.forget(session);
  const active = await ports.sessions.activeAmong(offered);
  const now = ports.store.now();
  const issues =
    (await actor.read((aggregate) => reconcileRun(aggregate, { now, isSessionActive: (id) => active.has(id) }))) ?? [];
  if (options.dryRun) return { checked: 1, repaired: 0, deferred: issues.length, issues };
  let repaired = 0;
  for (const issue of issues) if (await repair(directory, run, issue, options)) repaired += 1;
  const superseded = await actor.read((aggregate) => ({ run: aggregate.run, plan: aggregate.index.plan }));
  if (superseded !== null && superseded.run.finishedAt === null) {
    await supersedeOlder(ports, directory, superseded.run, superseded.plan, {
      actor: options.actor,
      audited: (older) => audited(options, 'SupersessionMissing', older),
    });
  }
  return { checked: 1, repaired, deferred: issues.length - repaired, issues };
}

async function repair(
  directory: Directory,
  run: RunId,
  issue: ReconcileIssue,
  options: ReconcileOptions,
): Promise<boolean> {
  if (issue.repair === null) return false;
  const entry = audited(options, issue.code, issue.entity);
  const result = await directory.actor(run).send(internal(issue.repair, options.actor, { audited: entry }));
  return result.outcome === 'accepted';
}

/** Manual repair is on record with who asked, and for what (000 §376.27). */
function audited({ asked }: ReconcileOptions, found: string, entity: string): Envelope['audited'] {
  if (asked === null) return null;
  return { action: 'run.repair', entity, message: asked.message === null ? found : `${found}: ${asked.message}` };
}

const progressId = 'runs';

const pageSize = 100;

/**
 * One pass over all active runs in bounded pages. It begins where the last one stopped, persisted, and comes round to
 * the runs before that, so every pass is whole. A run that cannot be reconciled is reported and keeps no other from it.
 */
export async function reconcileAll(
  ports: ReconcilerPorts,
  directory: Directory,
  actor: string,
): Promise<ReconcileReport> {
  const startedAt = ports.store.now();
  const stoppedAt = (await ports.store.reconcileProgress(progressId))?.cursor ?? null;
  let report: ReconcileReport = { checked: 0, repaired: 0, deferred: 0, issues: [] };
  let lastError: string | null = null;
  const sweep = async (from: string | null): Promise<void> => {
    let cursor = from;
    do {
      const page = await ports.store.scan({ kind: 'active-runs', cursor, limit: pageSize });
      for (const item of page.items) {
        ports.failpoint('reconcile:mid-batch');
        try {
          const one = await reconcileOne(ports, directory, item.runId, { dryRun: false, actor, asked: null });
          report = merged(report, one, ports.limits.pageMax);
        } catch (error) {
          lastError = `run ${item.runId}: ${String(error)}`;
          ports.report(`reconcile run ${item.runId}`, error);
        }
      }
      ports.failpoint('reconcile:before-cursor');
      cursor = page.next;
      const completedAt = cursor === null ? ports.store.now() : null;
      await ports.store.saveReconcileProgress({ id: progressId, cursor, startedAt, completedAt, lastError });
    } while (cursor !== null);
  };
  await sweep(stoppedAt);
  if (stoppedAt !== null) await sweep(null);
  return report;
}

const merged = (all: ReconcileReport, one: ReconcileReport, issuesMax: number): ReconcileReport => ({
  checked: all.checked + one.checked,
  repaired: all.repaired + one.repaired,
  deferred: all.deferred + one.deferred,
  issues: [...all.issues, ...one.issues].slice(-issuesMax),
});
