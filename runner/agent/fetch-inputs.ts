/** The inputs of an attempt: those of its offer, then the rest, page by page, while it is still the current one. */
import type { JobInputs } from '../protocol/index.ts';
import type { AttemptContext } from './attempt-context.ts';
import { authorised } from './attempt-context.ts';

/** Ends early when the attempt is halted; its control holds the reason. */
export async function* inputsOf(context: AttemptContext): AsyncGenerator<JobInputs> {
  const { connection, control, offer } = context;
  yield* offer.inputs;
  let after = offer.moreInputs ?? null;
  while (after !== null) {
    const answer = await connection.ask({ type: 'inputs', ...authorised(context), after }, control.halted);
    if (answer === null) return;
    const { reply } = answer;
    if (reply.type !== 'inputs' || (reply.next !== null && reply.next <= after)) {
      control.halt({ kind: 'lost', why: `inputs was ${whatIsWrong(reply)}` });
      return;
    }
    yield* reply.inputs;
    after = reply.next;
  }
}

function whatIsWrong(reply: { readonly type: string; readonly code?: string }): string {
  if (reply.type === 'rejected') return `rejected: ${reply.code}`;
  return reply.type === 'inputs' ? 'answered with a page that leads nowhere' : `answered with ${reply.type}`;
}
