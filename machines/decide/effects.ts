/** What the named effects of the charts do to a row: each gives the columns it changes. */
import type { JobInput } from '../charts/job.ts';
import type { Limits } from '../limits.ts';
import type { Evidence } from '../model/commands.ts';
import type { SessionId, Timestamp } from '../model/ids.ts';
import type { AttemptRow, FailureDetail, GateRow, JobIntent, JobRow, LeaseRow } from '../model/rows.ts';
import type { PlannedJob } from '../plan/plan.ts';

export interface JobEffectInput {
  readonly job: JobRow;
  readonly planned: PlannedJob;
  readonly now: Timestamp;
  readonly limits: Limits;
  readonly guard: JobInput;
  readonly requested: JobIntent | null;
  readonly opens: { readonly attempt: AttemptRow; readonly lease: LeaseRow } | null;
  readonly refusingSession: SessionId | null;
  readonly skipSatisfies: boolean | null;
  readonly source: 'Executed' | 'CacheHit';
}

type Effects<Input, Row> = { readonly [name: string]: (input: Input) => Partial<Row> };

export const jobEffects: Effects<JobEffectInput, JobRow> = {
  enterQueue: ({ planned, now }) => ({
    queueDeadlineAt: planned.spec.timeouts.queueMs === null ? null : now + planned.spec.timeouts.queueMs,
    retryNotBefore: null,
  }),
  openAttempt: ({ job, opens }) => ({
    attemptCount: job.attemptCount + 1,
    leaseEpoch: job.leaseEpoch + 1,
    currentAttempt: opens?.attempt.id ?? null,
    currentLease: opens?.lease.id ?? null,
  }),
  closeAttempt: () => ({ currentAttempt: null, currentLease: null, terminateBy: null }),
  countRefusal: ({ job, refusingSession, now, limits }) => ({
    refusals: job.refusals + 1,
    refusedBy:
      refusingSession === null
        ? job.refusedBy
        : [
            ...job.refusedBy.filter((one) => one.session !== refusingSession),
            { session: refusingSession, at: now },
          ].slice(-limits.refusedByMax),
  }),
  resetRefusals: () => ({ refusals: 0, refusedBy: [] }),
  charge: ({ job, guard }) => ({
    failureClass: guard.failureClass,
    workloadFailures: job.workloadFailures + (guard.retry.budget === 'workload' ? 1 : 0),
    infrastructureFailures: job.infrastructureFailures + (guard.retry.budget === 'infrastructure' ? 1 : 0),
  }),
  scheduleRetry: ({ now, guard }) => ({ retryNotBefore: now + guard.retry.delayMs }),
  setIntent: ({ job, requested, now, planned }) => ({
    intent: requested,
    terminateBy: Math.min(job.terminateBy ?? Number.POSITIVE_INFINITY, now + planned.spec.timeouts.terminationGraceMs),
  }),
  clearIntent: () => ({ intent: null }),
  recordSkip: ({ skipSatisfies }) => ({ satisfies: skipSatisfies }),
  recordSuccess: ({ source }) => ({ executionSource: source }),
};

export interface AttemptEffectInput {
  readonly planned: PlannedJob;
  readonly now: Timestamp;
  readonly evidence: Evidence | null;
  readonly failureClass: AttemptRow['failureClass'];
  readonly detail: FailureDetail | null;
}

export const attemptEffects: Effects<AttemptEffectInput, AttemptRow> = {
  armPreparation: ({ planned, now }) => ({
    preparationDeadlineAt: after(now, planned.spec.timeouts.preparationMs),
    executionDeadlineAt: planned.spec.timeouts.executionIncludesPreparation
      ? after(now, planned.spec.timeouts.executionMs)
      : null,
  }),
  armExecution: ({ planned, now }) =>
    planned.spec.timeouts.executionIncludesPreparation
      ? {}
      : { executionDeadlineAt: after(now, planned.spec.timeouts.executionMs) },
  armUpload: ({ planned, now }) => ({ uploadDeadlineAt: after(now, planned.spec.timeouts.uploadMs) }),
  recordResult: ({ evidence, failureClass, detail }) => ({
    exit: evidence?.exit ?? null,
    failureClass,
    failureDetail: detail,
  }),
  recordLateResult: () => ({ lateResult: true }),
};

const after = (now: Timestamp, delayMs: number | null): Timestamp | null => (delayMs === null ? null : now + delayMs);

export const leaseEffects: Effects<{ readonly lease: LeaseRow; readonly now: Timestamp }, LeaseRow> = {
  startTtl: ({ lease, now }) => ({ expiresAt: now + lease.ttlMs, renewedAt: now, creditMs: 0 }),
};

export const gateEffects: Effects<
  { readonly now: Timestamp; readonly expiryMs: number | null; readonly actor: string },
  GateRow
> = {
  open: ({ now, expiryMs }) => ({ expiresAt: after(now, expiryMs) }),
  recordDecision: ({ actor }) => ({ decidedBy: actor }),
};

/** The columns changed by a list of effects, in order. */
export function applyEffects<Input, Row>(
  effects: Effects<Input, Row>,
  names: readonly string[],
  input: Input,
): Partial<Row> {
  const set: Partial<Row> = {};
  for (const name of names) {
    const effect = effects[name];
    if (effect === undefined) throw new Error(`effect ${name} is not defined`);
    Object.assign(set, effect(input));
  }
  return set;
}
