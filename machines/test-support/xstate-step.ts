import type { AnyMachineSnapshot, AnyStateMachine } from 'xstate';
import { transition } from 'xstate';
import { z } from 'zod';
import { describeMove } from './describe-step.ts';

/** XState types the actions of a machine it knows nothing about as its own built-in ones. */
const actionList = z.array(
  z.object({
    type: z.string(),
    params: z.object({ code: z.string().optional(), event: z.string().optional() }).optional(),
  }),
);

export const snapshotOf = (machine: AnyStateMachine, state: string, context: unknown): AnyMachineSnapshot =>
  machine.resolveState({ value: state, context });

/**
 * What XState's pure `transition()` decides, in the words of `describeStep`. XState has no refusal: where it finds no
 * transition the pair is not listed, and the rule for unlisted pairs speaks.
 */
export function describeTransition(machine: AnyStateMachine, snapshot: AnyMachineSnapshot, event: string): string {
  const [next, actions] = transition(machine, snapshot, { type: event });
  const state = String(next.value);
  if (!snapshot.can({ type: event })) {
    if (state !== snapshot.value || actions.length > 0) return 'XState disagrees with itself';
    const ended = snapshot.status === 'done' || snapshot.hasTag('terminal');
    return `refuse ${ended ? 'AlreadyTerminal' : 'IllegalTransition'}`;
  }
  const named = actionList.parse(actions);
  const [first] = named;
  if (first?.type === 'answer') return `answer ${first.params?.code}`;
  if (first?.type === 'refuse') return `refuse ${first.params?.code}`;
  if (first?.type === 'decideAs') return `as ${first.params?.event}`;
  return describeMove(
    state,
    named.map((action) => action.type),
  );
}
