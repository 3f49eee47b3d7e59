/** Decisions on what people ask for: cancel, supersede, skip, priority, gates (000 §66-73, §129-134, §281). */

import type { JobEvent } from '../charts/job.ts';
import type { RunEvent } from '../charts/run.ts';
import type { OperatorCommand } from '../model/commands.ts';
import type { Decision, Reply } from '../model/decision.ts';
import type { RunIntent } from '../model/rows.ts';
import type { Draft } from '../state/run-state.ts';
import { isEnded } from '../state/run-state.ts';
import { answerOf, reject } from './answers.ts';
import type { DecideContext } from './context.ts';
import { finish } from './finish.ts';
import { stepGate } from './gate-step.ts';
import type { JobEventData } from './job-move.ts';
import { stepJob } from './job-step.ts';
import { applyRunIntent, intentReason, propagate, settle } from './propagate.ts';
import { peekRun, stepRun } from './run-step.ts';
import { noteFirstWork } from './runner-commands.ts';

export function decideOperatorCommand(draft: Draft, context: DecideContext, command: OperatorCommand): Decision {
  switch (command.type) {
    case 'CancelRun':
      return endRun(draft, context, 'CancelRequested', intent('Cancelled', context, null), command.message, true);
    case 'SupersedeRun':
      return endRun(
        draft,
        context,
        'SupersedeRequested',
        { ...intent('Superseded', context, null), supersededBy: command.by },
        null,
        true,
      );
    case 'CancelJob':
      return stepOneJob(draft, context, command, 'TerminationRequested', {
        requested: { kind: 'Cancelled', reason: 'OperatorCancelled' },
        message: command.message,
      });
    case 'SkipJob': {
      const message = command.message === null ? {} : { message: command.message };
      return stepOneJob(draft, context, command, 'Skip', {
        skip: { reason: { code: 'Manual', ...message }, satisfies: true },
      });
    }
    case 'ChangePriority':
      return changePriority(draft, context, command.priority);
    case 'DecideGate':
      return decideGate(draft, context, command);
  }
}

const intent = (
  kind: RunIntent['kind'],
  context: DecideContext,
  supersededBy: RunIntent['supersededBy'],
): RunIntent => ({
  kind,
  requestedAt: context.now,
  supersededBy,
});

/**
 * Sets a run intent and applies it to every node, in one commit. Where a job is held the run is Cancelling until
 * the last one ends; otherwise it ends here, after its nodes.
 */
export function endRun(
  draft: Draft,
  context: DecideContext,
  event: RunEvent,
  wanted: RunIntent,
  message: string | null,
  due: boolean,
): Decision {
  const reason = { code: intentReason[wanted.kind], ...(message === null ? {} : { message }) };
  const data = { reason, due, intent: wanted };
  const peeked = peekRun(draft, context, event, data);
  const drains = peeked.kind === 'move' && peeked.target === 'Cancelling';
  if (peeked.kind === 'move' && !drains) applyRunIntent(draft, context, wanted.kind, everyNode(draft));
  const answered = stepRun(draft, context, event, data);
  if (answered.kind !== 'moved') return answerOf(answered, `${event}: the run is ${draft.run.state}`, runReply(draft));
  if (drains) applyRunIntent(draft, context, wanted.kind, everyNode(draft));
  settle(draft, context);
  return { outcome: 'accepted', changes: finish(draft, [], []), reply: runReply(draft) };
}

const everyNode = (draft: Draft): Iterable<number> => draft.index.plan.nodes.keys();
const runReply = (draft: Draft): Reply => ({
  kind: 'run',
  state: draft.run.state,
  intent: draft.run.intent?.kind ?? null,
});

function stepOneJob(
  draft: Draft,
  context: DecideContext,
  command: OperatorCommand & { type: 'CancelJob' | 'SkipJob' },
  event: JobEvent,
  data: JobEventData,
): Decision {
  const index = draft.findJob(command.job);
  if (index === undefined || draft.node(index).kind !== 'job') return reject('UnknownEntity', `no job ${command.job}`);
  const answered = stepJob(draft, context, index, event, data);
  const job = draft.job(index);
  const reply: Reply = { kind: 'job', state: job.state, intent: job.intent?.kind ?? null };
  if (answered.kind !== 'moved') return answerOf(answered, `${command.type}: ${job.node} is ${job.state}`, reply);
  const judge = propagate(draft, context, isEnded(job) ? [index] : []);
  return { outcome: 'accepted', changes: finish(draft, [], judge), reply };
}

function changePriority(draft: Draft, context: DecideContext, priority: number): Decision {
  if (!Number.isInteger(priority) || Math.abs(priority) > context.limits.priorityMax) {
    return reject('InvalidCommand', `priority must be a whole number within ±${context.limits.priorityMax}`);
  }
  if (draft.run.priority === priority) return { outcome: 'no-op', code: 'AlreadyDone', reply: runReply(draft) };
  const answered = stepRun(draft, context, 'PriorityChanged', { reason: { code: 'PriorityRequested' }, priority });
  if (answered.kind !== 'moved') return answerOf(answered, `the run is ${draft.run.state}`, runReply(draft));
  return { outcome: 'accepted', changes: finish(draft, [], []), reply: runReply(draft) };
}

function decideGate(draft: Draft, context: DecideContext, command: OperatorCommand & { type: 'DecideGate' }): Decision {
  const index = draft.findGate(command.gate);
  if (index === undefined || draft.node(index).kind !== 'gate')
    return reject('UnknownEntity', `no gate ${command.gate}`);
  const { approvers } = draft.index.gate(index);
  if (approvers.length > 0 && !approvers.includes(context.actor)) {
    return reject('NotAnApprover', `${context.actor} is not among the approvers of ${draft.gate(index).node}`);
  }
  const event = command.verdict === 'approve' ? 'Approved' : 'RejectedByActor';
  const reason = { code: event, ...(command.message === null ? {} : { message: command.message }) } as const;
  const answered = stepGate(draft, context, index, event, reason);
  const gate = draft.gate(index);
  const reply: Reply = { kind: 'gate', state: gate.state };
  if (answered.kind !== 'moved') return answerOf(answered, `${event}: ${gate.node} is ${gate.state}`, reply);
  noteFirstWork(draft, context);
  const judge = propagate(draft, context, [index]);
  return { outcome: 'accepted', changes: finish(draft, [], judge), reply };
}
