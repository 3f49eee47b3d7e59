/**
 * One event on a job and, where it concerns them, its attempt and lease: three tables, one commit
 * (state-machines: What one commit does to the three rows).
 */

import type { AttemptEvent, AttemptInput } from '../charts/attempt.ts';
import type { Step } from '../charts/chart.ts';
import { step } from '../charts/chart.ts';
import type { JobEvent, JobInput } from '../charts/job.ts';
import type { LeaseEvent, LeaseInput } from '../charts/lease.ts';
import type { FailureClass } from '../model/failure-class.ts';
import type { JobRow } from '../model/rows.ts';
import { noRetry, retryVerdict } from '../policies/retry.ts';
import type { Draft } from '../state/run-state.ts';
import type { DecideContext } from './context.ts';
import { recordMove } from './job-facts.ts';
import type { JobEventData, JobMove, StepAnswer } from './job-move.ts';

const forAttempt: ReadonlySet<string> = new Set<AttemptEvent>([
  'PreparationStarted',
  'WorkStarted',
  'WorkFinished',
  'LeaseRejected',
  'OfferExpired',
  'LeaseRevoked',
  'AttemptSucceeded',
  'AttemptFailed',
  'TerminationConfirmed',
  'LeaseExpired',
]);
const forLease: ReadonlySet<string> = new Set<LeaseEvent>([
  'PreparationStarted',
  'LeaseRejected',
  'OfferExpired',
  'LeaseRevoked',
  'AttemptSucceeded',
  'AttemptFailed',
  'TerminationConfirmed',
  'LeaseExpired',
]);

/** Decides the event and, if it moves, records its facts in the draft. */
export function stepJob(
  draft: Draft,
  context: DecideContext,
  index: number,
  event: JobEvent,
  data: JobEventData,
): StepAnswer {
  const job = draft.job(index);
  const guard = jobInput(draft, context, job, event, data);
  const decided = step(context.charts.job, job.state, event, guard);
  switch (decided.kind) {
    case 'answer':
      return { kind: 'no-op', code: decided.code };
    case 'refuse':
      return { kind: 'rejected', code: decided.code };
    case 'decideAs':
      return stepJob(draft, context, index, asJobEvent(decided.event), data);
    case 'move': {
      const move: JobMove = {
        index,
        event,
        data,
        guard,
        job: { row: job, target: decided.target, effects: decided.effects },
        attempt: attemptMove(draft, context, job, event, guard),
        lease: leaseMove(draft, context, job, event, guard),
      };
      recordMove(draft, context, move);
      return { kind: 'moved' };
    }
  }
}

function asJobEvent(event: string): JobEvent {
  if (event !== 'TerminationConfirmed') throw new Error(`no chart decides as ${event}`);
  return event;
}

function jobInput(draft: Draft, context: DecideContext, job: JobRow, event: JobEvent, data: JobEventData): JobInput {
  const planned = draft.index.job(job.index);
  const failureClass = judgedClass(job, event, data);
  const refusing = event === 'LeaseRejected' || event === 'OfferExpired';
  const refusalSpends = refusing && job.refusals + 1 >= context.limits.refusalsMax;
  const judged = failureClass !== null && (!refusing || refusalSpends);
  return {
    runTerminating: draft.run.intent !== null,
    intent: job.intent,
    requested: data.requested?.kind ?? null,
    due: data.due ?? true,
    failureClass,
    retry: judged
      ? retryVerdict(
          planned.retry,
          job,
          { failureClass, transient: data.transient ?? true },
          drawOnce(context, planned.retry.backoff.kind),
        )
      : noRetry,
    refusalSpends,
    outputsVerified: data.outputsVerified ?? true,
    completionAfterIntent: planned.completionAfterIntent,
  };
}

/** Randomness is drawn only where a delay is drawn, so that histories without backoff do not consume it. */
const drawOnce = (context: DecideContext, backoff: string): number =>
  backoff === 'exponential' ? context.random() : 0;

/** The class an end is judged by: a TimedOut intent makes it Timeout, whatever the runner says. */
function judgedClass(job: JobRow, event: JobEvent, data: JobEventData): FailureClass | null {
  switch (event) {
    case 'AttemptFailed':
    case 'AttemptSucceeded':
    case 'TerminationConfirmed':
    case 'LeaseExpired':
      if (data.failureClass === 'Cancelled') return 'Cancelled';
      return job.intent?.kind === 'TimedOut' ? 'Timeout' : (data.failureClass ?? null);
    case 'LostResolved':
      return 'RunnerLost';
    case 'LeaseRejected':
    case 'OfferExpired':
    case 'QueueTimeoutReached':
      return 'Infrastructure';
    default:
      return null;
  }
}

function attemptMove(
  draft: Draft,
  context: DecideContext,
  job: JobRow,
  event: JobEvent,
  guard: JobInput,
): JobMove['attempt'] {
  const ends = event === 'TerminationRequested' && job.state === 'Leased';
  if (!ends && !forAttempt.has(event)) return null;
  const row = job.currentAttempt === null ? undefined : draft.attempt(job.currentAttempt);
  if (row === undefined) throw new Error(`job ${job.id} is ${job.state} without a current attempt`);
  const input: AttemptInput = {
    intent: job.intent,
    failureClass: guard.failureClass,
    due: guard.due,
    outputsVerified: guard.outputsVerified,
    completionAfterIntent: guard.completionAfterIntent,
    lateResult: row.lateResult,
  };
  return { row, ...expectMove('attempt', row.state, event, step(context.charts.attempt, row.state, event, input)) };
}

function leaseMove(
  draft: Draft,
  context: DecideContext,
  job: JobRow,
  event: JobEvent,
  guard: JobInput,
): JobMove['lease'] {
  const ends = event === 'TerminationRequested' && job.state === 'Leased';
  if (!ends && !forLease.has(event)) return null;
  const row = job.currentLease === null ? undefined : draft.lease(job.currentLease);
  if (row === undefined) throw new Error(`job ${job.id} is ${job.state} without a current lease`);
  // Authority has already found the offer unexpired; the time-driven events bring their own `due`.
  const due = event === 'PreparationStarted' ? row.offerExpiresAt <= context.now : guard.due;
  const input: LeaseInput = { due, outputsVerified: guard.outputsVerified, jobHasIntent: job.intent !== null };
  return { row, ...expectMove('lease', row.state, event, step(context.charts.lease, row.state, event, input)) };
}

/** The job's table has accepted; its attempt and lease must follow, or an invariant was broken before. */
function expectMove(
  entity: string,
  state: string,
  event: string,
  decided: Step,
): { readonly target: string; readonly effects: readonly string[] } {
  if (decided.kind !== 'move')
    throw new Error(`invariant: the job accepts ${event}, its ${entity} in ${state} does not`);
  return { target: decided.target, effects: decided.effects };
}
