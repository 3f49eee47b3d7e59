/** The facts of one job move: attempt and lease first, then the job that they explain. */

import type { ReasonCode } from '../model/codes.ts';
import type { AttemptFactType, JobFactType, LeaseFactType } from '../model/facts.ts';
import type { FailureClass } from '../model/failure-class.ts';
import type { FailureDetail, JobRow, Reason } from '../model/rows.ts';
import type { AttemptState, JobState, LeaseState } from '../model/states.ts';
import { attemptStates, isAttemptTerminal, isJobEnded, jobStates, leaseStates } from '../model/states.ts';
import type { Draft } from '../state/run-state.ts';
import type { DecideContext } from './context.ts';
import { applyEffects, attemptEffects, jobEffects, leaseEffects } from './effects.ts';
import type { JobMove } from './job-move.ts';
import { boundedText, record } from './record.ts';

export function recordMove(draft: Draft, context: DecideContext, move: JobMove): void {
  const to = memberOf(jobStates, move.job.target);
  const reason = jobReason(move, to);
  recordOpening(draft, context, move);
  recordAttemptEnd(draft, context, move);
  recordLease(draft, context, move);
  recordJob(draft, context, move, to, reason);
  keepEvidence(draft, move, to);
}

/** A grant brings its attempt and lease into being (000 §37). */
function recordOpening(draft: Draft, context: DecideContext, move: JobMove): void {
  const { opens } = move.data;
  if (opens === undefined) return;
  const { attempt, lease } = opens;
  const granted = { index: move.index, from: null, reason: { code: 'Granted' }, version: 1 } as const;
  record(draft, context, {
    ...granted,
    entity: 'attempt',
    type: 'AttemptCreated',
    id: attempt.id,
    to: attempt.state,
    set: attempt,
  });
  record(draft, context, {
    ...granted,
    entity: 'lease',
    type: 'LeaseGranted',
    id: lease.id,
    to: lease.state,
    set: lease,
  });
}

function recordAttemptEnd(draft: Draft, context: DecideContext, move: JobMove): void {
  if (move.attempt === null) return;
  const to = memberOf(attemptStates, move.attempt.target);
  if (!isAttemptTerminal(to)) return;
  const { row, effects } = move.attempt;
  const evidence = move.data.evidence ?? null;
  record(draft, context, {
    entity: 'attempt',
    type: 'AttemptEnded' satisfies AttemptFactType,
    id: row.id,
    index: move.index,
    from: row.state,
    to,
    reason: attemptReason(move, to),
    version: row.version + 1,
    set: attemptSet(draft, context, move, effects),
    evidence: {
      outputs: evidence?.outputs.length ?? 0,
      outputBytes: evidence?.outputs.reduce((sum, one) => sum + one.bytes, 0) ?? 0,
      reports: evidence?.reports.length ?? 0,
    },
  });
}

function attemptSet(draft: Draft, context: DecideContext, move: JobMove, effects: readonly string[]) {
  return applyEffects(attemptEffects, effects, {
    planned: draft.index.job(move.index),
    now: context.now,
    evidence: move.data.evidence ?? null,
    failureClass: attemptClass(move),
    detail: boundedDetail(move.data.detail ?? null, context.limits.reasonMessageCharsMax),
  });
}

/** A refused offer is no failure of the attempt, even where it spends one of the job. */
function attemptClass(move: JobMove): FailureClass | null {
  switch (move.event) {
    case 'LeaseExpired':
      return 'RunnerLost';
    case 'LeaseRejected':
    case 'OfferExpired':
      return null;
    default:
      return move.guard.failureClass;
  }
}

/** What a runner says about its failure goes into a fact, so it is as bounded as a reason (F4). */
function boundedDetail(detail: FailureDetail | null, charsMax: number): FailureDetail | null {
  if (detail === null) return null;
  const message = detail.message === null ? null : boundedText(detail.message, charsMax);
  return { ...detail, step: detail.step === null ? null : boundedText(detail.step, charsMax), message };
}

const leaseFacts: { readonly [K in LeaseState]: LeaseFactType } = {
  Offered: 'LeaseGranted',
  Held: 'LeaseAccepted',
  Released: 'LeaseReleased',
  Expired: 'LeaseExpired',
  Rejected: 'LeaseRejected',
  Revoked: 'LeaseRevoked',
};

function recordLease(draft: Draft, context: DecideContext, move: JobMove): void {
  if (move.lease === null) return;
  const { row, effects, target } = move.lease;
  const to = memberOf(leaseStates, target);
  record(draft, context, {
    entity: 'lease',
    type: leaseFacts[to],
    id: row.id,
    index: move.index,
    from: row.state,
    to,
    reason: attemptReason(move, null),
    version: row.version + 1,
    set: applyEffects(leaseEffects, effects, { lease: row, now: context.now }),
  });
}

function recordJob(draft: Draft, context: DecideContext, move: JobMove, to: JobState, reason: Reason): void {
  const { row, effects } = move.job;
  const set = applyEffects(jobEffects, effects, {
    job: row,
    planned: draft.index.job(move.index),
    now: context.now,
    limits: context.limits,
    guard: move.guard,
    requested: move.data.requested ?? null,
    opens: move.data.opens ?? null,
    refusingSession: move.data.refusingSession ?? null,
    skipSatisfies: move.data.skip?.satisfies ?? null,
    source: move.data.source ?? 'Executed',
  });
  const finalClass = isJobEnded(to) ? { failureClass: isFailure(to) ? move.guard.failureClass : null } : {};
  record(draft, context, {
    entity: 'job',
    type: jobFactType(row.state, to),
    id: row.id,
    index: move.index,
    from: row.state,
    to,
    reason,
    version: row.version + 1,
    set: { ...set, ...finalClass },
    ...phaseMove(draft, context, move),
  });
}

/** Only these ends keep a class: a success after a retry is no failure of the first attempt's kind. */
const isFailure = (to: JobState): boolean => to === 'Failed' || to === 'TimedOut';

/** A phase of the attempt moves with the job's, in the job's fact. */
function phaseMove(draft: Draft, context: DecideContext, move: JobMove) {
  if (move.attempt === null) return {};
  const to: AttemptState = memberOf(attemptStates, move.attempt.target);
  if (isAttemptTerminal(to)) return {};
  const { row, effects } = move.attempt;
  return { attempt: { id: row.id, from: row.state, to, set: attemptSet(draft, context, move, effects) } };
}

function jobFactType(from: JobState, to: JobState): JobFactType {
  if (from === to) return 'JobTerminationRequested';
  switch (to) {
    case 'Pending':
      throw new Error('a job never returns to Pending');
    case 'Eligible':
      return from === 'Leased' ? 'JobReturnedToQueue' : 'JobEligible';
    case 'RetryWaiting':
      return 'JobRetryScheduled';
    case 'Running':
      return 'JobStarted';
    case 'Leased':
    case 'Preparing':
    case 'UploadingOutputs':
    case 'Lost':
    case 'Succeeded':
    case 'Failed':
    case 'Cancelled':
    case 'TimedOut':
    case 'Skipped':
      return `Job${to}`;
  }
}

/** Evidence is too large for facts: it goes to the rows only (see `unfoldedColumns`). */
function keepEvidence(draft: Draft, move: JobMove, to: JobState): void {
  const { evidence } = move.data;
  if (evidence === undefined) return;
  const attempt = move.attempt === null ? undefined : draft.attempt(move.attempt.row.id);
  if (attempt !== undefined && isAttemptTerminal(attempt.state)) {
    draft.putAttempt({ ...attempt, outputs: evidence.outputs, reports: evidence.reports, log: evidence.log });
  }
  if (to === 'Succeeded') draft.putNode({ ...draft.job(move.index), outputs: evidence.outputs });
}

function jobReason(move: JobMove, to: JobState): Reason {
  const { data, job } = move;
  if (data.skip !== undefined) return data.skip.reason;
  const code = jobReasonCode(move, job.row, to);
  return data.message === undefined || data.message === null ? { code } : { code, message: data.message };
}

function jobReasonCode(move: JobMove, job: JobRow, to: JobState): ReasonCode {
  const { event, data, guard } = move;
  switch (event) {
    case 'DependenciesSatisfied':
      return data.reason ?? 'DependenciesSatisfied';
    case 'Skip':
      return data.reason ?? 'Manual';
    case 'CacheHit':
      return 'ActionCacheHit';
    case 'LeaseGranted':
      return 'Granted';
    case 'QueueTimeoutReached':
      return 'QueueTimeout';
    case 'LeaseRejected':
    case 'OfferExpired':
      if (to === 'Eligible') return event === 'OfferExpired' ? 'OfferExpired' : 'OfferRejected';
      return 'NoWillingRunner';
    case 'LeaseRevoked':
      return 'OfferRevoked';
    case 'PreparationStarted':
      return 'Accepted';
    case 'WorkStarted':
    case 'WorkFinished':
      return event;
    case 'TerminationRequested':
    case 'TimeoutReached':
      return data.requested?.reason ?? 'OperatorCancelled';
    case 'RetryDue':
      return 'RetryDelayElapsed';
    case 'LeaseExpired':
      return to === 'Lost' ? 'LeaseExpired' : endReason(guard.failureClass, job, to);
    case 'AttemptSucceeded':
      if (to === 'Succeeded') return job.intent === null ? 'OutputsVerified' : 'AcceptedDespiteIntent';
      return job.intent?.reason ?? 'OutputsVerified';
    case 'AttemptFailed':
    case 'TerminationConfirmed':
    case 'LostResolved':
      return endReason(guard.failureClass, job, to);
  }
}

/** A standing intent explains its own end; otherwise the failure class does. */
function endReason(failureClass: ReasonCode | null, job: JobRow, to: JobState): ReasonCode {
  if (job.intent !== null && (to === 'Cancelled' || to === 'TimedOut')) return job.intent.reason;
  return failureClass ?? 'Internal';
}

/** Why the attempt (or, with `to` null, its lease) ended or moved. */
function attemptReason(move: JobMove, to: AttemptState | null): Reason {
  const { event, data, guard, job } = move;
  const message = data.message === undefined || data.message === null ? {} : { message: data.message };
  switch (event) {
    case 'PreparationStarted':
      return { code: 'Accepted' };
    case 'LeaseRejected':
      return { code: 'OfferRejected', ...message };
    case 'OfferExpired':
      return { code: 'OfferExpired' };
    case 'LeaseRevoked':
      return { code: 'OfferRevoked', ...message };
    case 'LeaseExpired':
      return { code: 'LeaseExpired' };
    case 'TerminationRequested':
      return { code: data.requested?.reason ?? 'OperatorCancelled', ...message };
    case 'AttemptSucceeded':
      if (job.row.intent !== null && to !== 'Succeeded' && to !== null) return { code: job.row.intent.reason };
      return { code: 'OutputsVerified' };
    case 'TerminationConfirmed':
      return { code: job.row.intent?.reason ?? 'OperatorCancelled', ...message };
    default:
      if (job.row.intent !== null) return { code: job.row.intent.reason, ...message };
      return { code: guard.failureClass ?? 'Internal', ...message };
  }
}

export function memberOf<T extends string>(members: readonly T[], value: string): T {
  const found = members.find((one) => one === value);
  if (found === undefined) throw new Error(`${value} is no state here`);
  return found;
}
