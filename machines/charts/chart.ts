/**
 * What a statechart is in this house, and the flat table it is compiled to.
 *
 * The XState machines are the definition (000 §51, §231); `decide` runs on tables, because a table step costs
 * a fraction of `transition()`. `equality.test.ts` holds the two equal over every state x event x guard class.
 *  C1 guards and actions are named; nothing is inline; no `after`, `invoke` or `spawn`.
 *  C2 the last candidate of a list has no guard: a listed pair always has a decision.
 *  C3 an unlisted pair is refused: AlreadyTerminal in a terminal state, IllegalTransition elsewhere.
 *  C4 `answer`, `refuse` and `decideAs` are actions of candidates that change nothing.
 */
import type { AnyStateMachine } from 'xstate';
import type { NoOpCode, RejectionCode } from '../model/codes.ts';

export interface Candidate {
  /** Null: always taken. */
  readonly guard: string | null;
  /** Null: the state stays. */
  readonly target: string | null;
  /** Named effects, in order; see the effects file of the chart. */
  readonly effects: readonly string[];
  readonly answer: NoOpCode | null;
  readonly refuse: RejectionCode | null;
  /** Decide the command as if this event had come. */
  readonly decideAs: string | null;
}

export interface Table {
  readonly id: string;
  readonly initial: string;
  readonly states: readonly string[];
  readonly terminal: readonly string[];
  readonly events: readonly string[];
  /** state -> event -> candidates in order; absent = not listed. */
  readonly rows: { readonly [state: string]: { readonly [event: string]: readonly Candidate[] } };
}

export type Guards<Input> = { readonly [name: string]: (input: Input) => boolean };

export interface Chart<Input> {
  readonly machine: AnyStateMachine;
  readonly guards: Guards<Input>;
  readonly table: Table;
}

export type Step =
  | { readonly kind: 'move'; readonly target: string; readonly effects: readonly string[] }
  | { readonly kind: 'answer'; readonly code: NoOpCode }
  | { readonly kind: 'refuse'; readonly code: RejectionCode }
  | { readonly kind: 'decideAs'; readonly event: string };

/** The decision of one table for one event. Total: every pair has an answer. */
export function step<Input>(chart: Chart<Input>, state: string, event: string, input: Input): Step {
  const candidates = listed(listed(chart.table.rows, state), event);
  if (candidates === undefined) {
    return { kind: 'refuse', code: chart.table.terminal.includes(state) ? 'AlreadyTerminal' : 'IllegalTransition' };
  }
  for (const candidate of candidates) {
    if (candidate.guard !== null && !guardHolds(chart, candidate.guard, input)) continue;
    if (candidate.answer !== null) return { kind: 'answer', code: candidate.answer };
    if (candidate.refuse !== null) return { kind: 'refuse', code: candidate.refuse };
    if (candidate.decideAs !== null) return { kind: 'decideAs', event: candidate.decideAs };
    return { kind: 'move', target: candidate.target ?? state, effects: candidate.effects };
  }
  return { kind: 'refuse', code: 'IllegalTransition' };
}

/** Own entries only: names may come from outside, and `constructor` is no event. */
function listed<Entry>(entries: { readonly [name: string]: Entry } | undefined, name: string): Entry | undefined {
  return entries !== undefined && Object.hasOwn(entries, name) ? entries[name] : undefined;
}

function guardHolds<Input>(chart: Chart<Input>, name: string, input: Input): boolean {
  const guard = chart.guards[name];
  if (guard === undefined) throw new Error(`chart ${chart.table.id}: guard ${name} is not defined`);
  return guard(input);
}

/** The guards in the form XState calls them: a chart's context is the guard input. */
export function machineGuards<Input, G extends Guards<Input>>(
  guards: G,
): { [K in keyof G]: (args: { context: Input }) => boolean } {
  const wrapped = Object.entries(guards).map(([name, guard]) => [
    name,
    ({ context }: { context: Input }) => guard(context),
  ]);
  // Object.fromEntries forgets the keys; they are those of `guards`.
  return Object.fromEntries(wrapped) as { [K in keyof G]: (args: { context: Input }) => boolean };
}

/** Actions every chart has; like all actions here they are names, carried out by `decide`. */
export const answering = {
  answer: (_: unknown, _params: { code: string }) => {},
  refuse: (_: unknown, _params: { code: string }) => {},
  decideAs: (_: unknown, _params: { event: string }) => {},
};
export const named = (): void => {};

/** A candidate that changes nothing and answers with the standing result. */
export const answer = (code: NoOpCode) => ({ type: 'answer' as const, params: { code } });
/** A candidate that changes nothing and refuses. */
export const refuse = (code: RejectionCode) => ({ type: 'refuse' as const, params: { code } });
export const decideAs = (event: string) => ({ type: 'decideAs' as const, params: { event } });
