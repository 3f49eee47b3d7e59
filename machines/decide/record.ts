/** Appends a fact to a draft: numbers it, bounds its text, and evolves the draft by it. */
import type { AttemptFact, Fact, GateFact, JobFact, LeaseFact, RunFact } from '../model/facts.ts';
import type { Reason } from '../model/rows.ts';
import { evolve } from '../state/evolve.ts';
import type { Draft } from '../state/run-state.ts';
import type { DecideContext } from './context.ts';

type Unnumbered<F> = F extends Fact ? Omit<F, 'sequence' | 'at'> : never;
export type NewFact =
  | Unnumbered<RunFact>
  | Unnumbered<JobFact>
  | Unnumbered<AttemptFact>
  | Unnumbered<LeaseFact>
  | Unnumbered<GateFact>;

export function record(draft: Draft, context: DecideContext, fact: NewFact): void {
  const numbered: Fact = {
    ...fact,
    reason: bounded(fact.reason, context),
    sequence: draft.sequence + 1,
    at: context.now,
  };
  evolve(draft, numbered);
  draft.facts.push(numbered);
}

function bounded(reason: Reason, context: DecideContext): Reason {
  if (reason.message === undefined) return reason;
  const message = boundedText(reason.message, context.limits.reasonMessageCharsMax);
  return message === reason.message ? reason : { ...reason, message };
}

/** At most `charsMax` characters; what was cut off shows. */
export function boundedText(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;
}
