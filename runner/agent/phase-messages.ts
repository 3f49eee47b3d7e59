/**
 * Phase messages and what their answers mean. The agent never assumes a phase: it is in a phase when
 * the control plane has said so (000 §114, protocol M2).
 */
import { localDeadline } from '../lease/keeper.ts';
import type { Directive, RunnerReply, RunnerRequest } from '../protocol/index.ts';
import { protocolVersion } from '../protocol/index.ts';
import type { AttemptContext } from './attempt-context.ts';
import { attemptId, authorised } from './attempt-context.ts';
import type { Answer } from './connection.ts';

export type PhaseAnswer = 'continue' | 'stop';

/** Sends a phase message until it is answered; on `stop` the attempt's control holds the reason. */
export async function sendPhase(
  context: AttemptContext,
  message: RunnerRequest,
  signal: AbortSignal,
): Promise<PhaseAnswer> {
  context.sent.push(message);
  const reply = await askInOrder(context, message, signal);
  if (reply === null) return 'stop';
  switch (reply.type) {
    case 'ok':
    case 'directive':
      return context.control.halted.aborted ? 'stop' : 'continue';
    case 'rejected':
      context.control.halt({ kind: 'lost', why: `${message.type} was rejected: ${reply.code}` });
      return 'stop';
    default:
      context.control.halt({ kind: 'lost', why: `${message.type} was answered with ${reply.type}` });
      return 'stop';
  }
}

/**
 * Asks, and obeys a directive in the answer. After `OutOfOrder` the agent says where it stands and
 * repeats its earlier phase messages: repeats of what is known already change nothing (000 §187-188).
 */
export async function askInOrder(context: AttemptContext, message: RunnerRequest, signal: AbortSignal) {
  const first = await ask(context, message, signal);
  if (first?.type !== 'rejected' || first.code !== 'OutOfOrder') return first;
  if (!(await resync(context, signal))) return null;
  for (const earlier of context.sent) if (earlier.type !== message.type) await ask(context, earlier, signal);
  return context.control.lost.aborted ? null : await ask(context, message, signal);
}

async function ask(context: AttemptContext, message: RunnerRequest, signal: AbortSignal): Promise<RunnerReply | null> {
  const answer = await context.connection.ask(message, signal);
  if (answer?.reply.type === 'directive') obey(context, answer.reply.directive, answer, message.type === 'start');
  return answer?.reply ?? null;
}

async function resync(context: AttemptContext, signal: AbortSignal): Promise<boolean> {
  const { authority } = context.offer;
  const answer = await context.connection.ask(
    {
      type: 'resync',
      version: protocolVersion,
      messageId: context.options.ids(),
      runner: authority.runner,
      session: authority.session,
      attempts: [{ authority, phase: context.control.phase() }],
    },
    signal,
  );
  if (answer?.reply.type !== 'directives') return false;
  const own = answer.reply.directives.find((entry) => entry.attempt === attemptId(context));
  if (own !== undefined) obey(context, own.directive, answer, false);
  return !context.control.lost.aborted;
}

/** `confirmed`: a Cancel in answer to `start` is itself the recorded end of the attempt. */
function obey(context: AttemptContext, directive: Directive, { sentAt }: Answer, confirmed: boolean): void {
  if (directive.kind === 'stale') {
    context.control.halt({ kind: 'lost', why: 'the attempt is no longer current' });
    return;
  }
  const deadline = localDeadline(sentAt, directive.leaseMs);
  context.control.extendDeadline(deadline);
  context.keeper.watch(context.offer.authority, deadline);
  if (directive.kind === 'cancel') context.control.halt({ kind: 'cancel', intent: directive.intent, confirmed });
}

export const startMessage = (context: AttemptContext): RunnerRequest => ({ type: 'start', ...authorised(context) });
