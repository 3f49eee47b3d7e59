/** Decisions on runner messages: authority first, then the tables (000 §113-114, §290). */
import { authorityOf } from '../authority.ts';
import { step } from '../charts/chart.ts';
import type { JobEvent } from '../charts/job.ts';
import type { ReasonCode } from '../model/codes.ts';
import type { RunnerCommand } from '../model/commands.ts';
import type { CommitGuard, Decision, DirectiveValue, Reply } from '../model/decision.ts';
import type { Draft } from '../state/run-state.ts';
import { isEnded } from '../state/run-state.ts';
import { answerOf, reject } from './answers.ts';
import type { DecideContext } from './context.ts';
import { finish } from './finish.ts';
import type { JobEventData } from './job-move.ts';
import { stepJob } from './job-step.ts';
import { propagate } from './propagate.ts';
import { record } from './record.ts';
import { stepRun } from './run-step.ts';

const eventOf: { readonly [K in RunnerCommand['type']]: JobEvent } = {
  AcceptLease: 'PreparationStarted',
  RejectLease: 'LeaseRejected',
  StartWork: 'WorkStarted',
  FinishWork: 'WorkFinished',
  CompleteAttempt: 'AttemptSucceeded',
  FailAttempt: 'AttemptFailed',
  ConfirmTermination: 'TerminationConfirmed',
};

export function decideRunnerCommand(draft: Draft, context: DecideContext, command: RunnerCommand): Decision {
  const verdict = authorityOf(draft, command.authority, context.now);
  switch (verdict.kind) {
    case 'foreign':
      return reject('Foreign', `${command.type}: the message does not belong to this run's current authority`);
    case 'specMismatch':
      return reject('SpecMismatch', `${command.type}: the attempt is bound to ${draft.job(verdict.index).specDigest}`);
    case 'stale':
      return rejectLate(draft, context, command, verdict.index, 'Stale');
    case 'expired':
      return rejectLate(draft, context, command, verdict.index, 'LeaseExpired');
    case 'valid':
      return decideValid(draft, context, command, verdict.index);
  }
}

function decideValid(draft: Draft, context: DecideContext, command: RunnerCommand, index: number): Decision {
  const { authority } = command;
  if (
    command.type === 'AcceptLease' &&
    draft.job(index).state === 'Leased' &&
    !context.isSessionActive(authority.session)
  ) {
    return reject('SessionNotActive', 'the session that accepts is draining, closed or replaced');
  }
  const answered = stepJob(draft, context, index, eventOf[command.type], dataOf(command));
  if (answered.kind !== 'moved')
    return answerOf(answered, `${command.type} in ${draft.job(index).state}`, replyTo(draft, command, index));
  if (command.type === 'AcceptLease') noteFirstWork(draft, context);
  const judge = propagate(draft, context, isEnded(draft.node(index)) ? [index] : []);
  const guards: CommitGuard[] = [{ kind: 'lease-live', lease: authority.lease }];
  if (command.type === 'AcceptLease') guards.push({ kind: 'session-active', session: authority.session });
  return { outcome: 'accepted', changes: finish(draft, guards, judge), reply: replyTo(draft, command, index) };
}

/** The first preparation or gate decision starts the run (000 §137, §153). */
export function noteFirstWork(draft: Draft, context: DecideContext): void {
  if (draft.run.state === 'Queued') stepRun(draft, context, 'Started', { reason: { code: 'FirstWork' } });
}

function dataOf(command: RunnerCommand): JobEventData {
  switch (command.type) {
    case 'AcceptLease':
    case 'StartWork':
      return {};
    case 'RejectLease':
      return { refusingSession: command.authority.session, message: command.message };
    case 'FinishWork':
      return {};
    case 'CompleteAttempt':
      return { outputsVerified: command.outputsVerified, evidence: command.evidence };
    case 'FailAttempt':
      return {
        failureClass: command.failureClass,
        transient: command.transient,
        evidence: command.evidence,
        detail: command.detail,
        message: command.detail.message,
      };
    case 'ConfirmTermination':
      return { evidence: command.evidence };
  }
}

function replyTo(draft: Draft, command: RunnerCommand, index: number): Reply {
  switch (command.type) {
    case 'AcceptLease':
    case 'StartWork':
    case 'FinishWork':
      return { kind: 'directive', directive: directiveFor(draft, command.authority.lease, index) };
    case 'RejectLease':
    case 'CompleteAttempt':
    case 'FailAttempt':
    case 'ConfirmTermination': {
      const job = draft.job(index);
      return { kind: 'job', state: job.state, intent: job.intent?.kind ?? null };
    }
  }
}

/** What the attempt under this lease is to do (000 §190). An attempt that just ended by an intent is told Cancel. */
export function directiveFor(
  draft: Pick<Draft, 'job' | 'lease'>,
  leaseId: RunnerCommand['authority']['lease'],
  index: number,
): DirectiveValue {
  const job = draft.job(index);
  const lease = draft.lease(leaseId);
  if (lease === undefined) return { kind: 'stale' };
  if (job.currentLease === leaseId) {
    return job.intent === null
      ? { kind: 'continue', expiresAt: lease.expiresAt }
      : { kind: 'cancel', intent: job.intent, expiresAt: lease.expiresAt };
  }
  if (lease.state === 'Released' && lease.reason !== null && intentReasons.has(lease.reason.code)) {
    const kind = job.intent?.kind ?? 'TimedOut';
    return { kind: 'cancel', intent: { kind, reason: lease.reason.code }, expiresAt: lease.expiresAt };
  }
  return { kind: 'stale' };
}

/** Why a lease is released when an intent ended its attempt; after a success or failure there is nothing to cancel. */
const intentReasons: ReadonlySet<ReasonCode> = new Set([
  'PreparationTimeout',
  'ExecutionTimeout',
  'UploadTimeout',
  'RunDeadline',
  'OperatorCancelled',
  'RunCancelled',
  'Superseded',
  'FailFast',
]);

/** A result without authority changes nothing; the first one per attempt is put on record (000 §45). */
function rejectLate(
  draft: Draft,
  context: DecideContext,
  command: RunnerCommand,
  index: number,
  code: 'Stale' | 'LeaseExpired',
): Decision {
  const detail = `${command.type}: ${code === 'Stale' ? 'the attempt is no longer the current one' : 'the lease has run out'}`;
  const isResult =
    command.type === 'CompleteAttempt' || command.type === 'FailAttempt' || command.type === 'ConfirmTermination';
  const attempt = draft.attempt(command.authority.attempt);
  if (!isResult || attempt === undefined) return reject(code, detail);
  const decided = step(context.charts.attempt, attempt.state, 'LateResult', {
    intent: null,
    failureClass: null,
    due: true,
    outputsVerified: false,
    completionAfterIntent: 'honor_intent',
    lateResult: attempt.lateResult,
  });
  if (decided.kind !== 'move') return reject(code, detail);
  record(draft, context, {
    entity: 'attempt',
    type: 'LateAttemptResultRejected',
    id: attempt.id,
    index,
    from: attempt.state,
    to: attempt.state,
    reason: { code: 'LateResult', message: command.type },
    version: attempt.version,
    set: decided.effects.includes('recordLateResult') ? { lateResult: true } : {},
  });
  return { outcome: 'rejected', code, detail, audit: finish(draft, [], []) };
}
