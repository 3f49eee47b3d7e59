/** Decisions on deadlines that came due. Every one re-checks against the rows: firing twice is harmless (003 §81). */
import { leaseEndsAt } from '../authority.ts';
import type { ReasonCode } from '../model/codes.ts';
import type { TimeoutPhase, TimerCommand } from '../model/commands.ts';
import type { CommitGuard, Decision } from '../model/decision.ts';
import type { Timestamp } from '../model/ids.ts';
import type { AttemptRow, JobRow } from '../model/rows.ts';
import { isLeaseLive } from '../model/states.ts';
import type { Draft } from '../state/run-state.ts';
import { isEnded } from '../state/run-state.ts';
import { answerOf, reject } from './answers.ts';
import type { DecideContext } from './context.ts';
import { finish } from './finish.ts';
import { stepGate } from './gate-step.ts';
import type { StepAnswer } from './job-move.ts';
import { stepJob } from './job-step.ts';
import { endRun } from './operator-commands.ts';
import { propagate } from './propagate.ts';
import { noteFirstWork } from './runner-commands.ts';

export function decideTimerCommand(draft: Draft, context: DecideContext, command: TimerCommand): Decision {
  switch (command.type) {
    case 'ReachRunDeadline': {
      const due = draft.run.deadlineAt !== null && draft.run.deadlineAt <= context.now;
      return endRun(
        draft,
        context,
        'DeadlineReached',
        { kind: 'TimedOut', requestedAt: context.now, supersededBy: null },
        null,
        due,
      );
    }
    case 'ExpireGate':
      return expireGate(draft, context, command);
    default:
      return decideJobTimer(draft, context, command);
  }
}

function expireGate(draft: Draft, context: DecideContext, command: TimerCommand & { type: 'ExpireGate' }): Decision {
  const index = draft.findGate(command.gate);
  if (index === undefined || draft.node(index).kind !== 'gate')
    return reject('UnknownEntity', `no gate ${command.gate}`);
  const answered = stepGate(draft, context, index, 'ExpiryReached', { code: 'GateExpired' });
  if (answered.kind === 'moved') noteFirstWork(draft, context);
  return conclude(draft, context, index, answered, command.type, []);
}

type JobTimerCommand = Exclude<TimerCommand, { type: 'ReachRunDeadline' | 'ExpireGate' }>;

function decideJobTimer(draft: Draft, context: DecideContext, command: JobTimerCommand): Decision {
  const index = draft.findJob(command.job);
  if (index === undefined || draft.node(index).kind !== 'job') return reject('UnknownEntity', `no job ${command.job}`);
  const job = draft.job(index);
  switch (command.type) {
    case 'ReachQueueTimeout': {
      const due = isDue(job.queueDeadlineAt, context);
      return conclude(
        draft,
        context,
        index,
        stepJob(draft, context, index, 'QueueTimeoutReached', { due }),
        command.type,
        [],
      );
    }
    case 'ReachRetryTime': {
      const due = isDue(job.retryNotBefore, context);
      return conclude(draft, context, index, stepJob(draft, context, index, 'RetryDue', { due }), command.type, []);
    }
    case 'ReachPhaseTimeout':
      return reachPhaseTimeout(draft, context, index, command);
    case 'ExpireOffer':
    case 'ExpireLease':
      return expire(draft, context, index, command);
  }
}

const isDue = (at: Timestamp | null, context: DecideContext): boolean => at !== null && at <= context.now;

const timeoutReason: { readonly [K in TimeoutPhase]: ReasonCode } = {
  preparation: 'PreparationTimeout',
  execution: 'ExecutionTimeout',
  upload: 'UploadTimeout',
};

function reachPhaseTimeout(
  draft: Draft,
  context: DecideContext,
  index: number,
  command: JobTimerCommand & { type: 'ReachPhaseTimeout' },
): Decision {
  const job = draft.job(index);
  const attempt = draft.attempt(command.attempt);
  const due =
    job.currentAttempt === command.attempt &&
    attempt !== undefined &&
    isDue(phaseDeadline(job, attempt, command.phase), context);
  const requested = { kind: 'TimedOut', reason: timeoutReason[command.phase] } as const;
  return conclude(
    draft,
    context,
    index,
    stepJob(draft, context, index, 'TimeoutReached', { due, requested }),
    command.type,
    [],
  );
}

/** The attempt's deadline for a phase, if the job is in it; execution may include preparation (000 §63). */
function phaseDeadline(job: JobRow, attempt: AttemptRow, phase: TimeoutPhase): Timestamp | null {
  switch (phase) {
    case 'preparation':
      return job.state === 'Preparing' ? attempt.preparationDeadlineAt : null;
    case 'execution':
      return job.state === 'Preparing' || job.state === 'Running' ? attempt.executionDeadlineAt : null;
    case 'upload':
      return job.state === 'UploadingOutputs' ? attempt.uploadDeadlineAt : null;
  }
}

function expire(
  draft: Draft,
  context: DecideContext,
  index: number,
  command: JobTimerCommand & { type: 'ExpireOffer' | 'ExpireLease' },
): Decision {
  const job = draft.job(index);
  const lease = draft.lease(command.lease);
  const reply = { kind: 'none' } as const;
  const wanted = command.type === 'ExpireOffer' ? 'Offered' : 'Held';
  if (
    job.currentLease !== command.lease ||
    lease === undefined ||
    !isLeaseLive(lease.state) ||
    lease.state !== wanted
  ) {
    return { outcome: 'no-op', code: 'NotDue', reply };
  }
  const due = leaseEndsAt(lease) <= context.now;
  const event = command.type === 'ExpireOffer' ? 'OfferExpired' : 'LeaseExpired';
  const answered = stepJob(draft, context, index, event, { due, refusingSession: lease.session });
  return conclude(draft, context, index, answered, command.type, [
    { kind: 'lease-expired', lease: command.lease, creditSequence: context.creditSequence },
  ]);
}

/** Propagates an end and finishes, or says why nothing happened. */
export function conclude(
  draft: Draft,
  context: DecideContext,
  index: number,
  answered: StepAnswer,
  what: string,
  guards: readonly CommitGuard[],
): Decision {
  const row = draft.node(index);
  if (answered.kind !== 'moved') return answerOf(answered, `${what}: ${row.node} is ${row.state}`, { kind: 'none' });
  const judge = propagate(draft, context, isEnded(row) ? [index] : []);
  return { outcome: 'accepted', changes: finish(draft, guards, judge), reply: { kind: 'none' } };
}
