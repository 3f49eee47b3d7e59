/** Every small way a table can be wrong: what the checks of this folder must notice. */
import type { Candidate, Table } from '../charts/chart.ts';

export interface Mutation {
  readonly what: string;
  readonly state: string;
  readonly event: string;
  readonly table: Table;
}

export function mutations(table: Table): readonly Mutation[] {
  return table.states.flatMap((state) =>
    table.events.flatMap((event) => {
      const listed = table.rows[state]?.[event];
      const changed = listed === undefined ? addedPair(table, state) : changedPair(table, state, listed);
      return changed.map(({ what, candidates }) => ({
        what,
        state,
        event,
        table: withPair(table, state, event, candidates),
      }));
    }),
  );
}

interface Change {
  readonly what: string;
  /** Null: the pair is no longer listed. */
  readonly candidates: readonly Candidate[] | null;
}

function addedPair(table: Table, state: string): readonly Change[] {
  const target = table.states.find((other) => other !== state) ?? state;
  const candidate = { guard: null, target, effects: [], answer: null, refuse: null, decideAs: null };
  return [{ what: 'an unlisted pair moves', candidates: [candidate] }];
}

function changedPair(table: Table, state: string, listed: readonly Candidate[]): readonly Change[] {
  const changes: Change[] = [{ what: 'the pair is dropped', candidates: null }];
  listed.forEach((candidate, index) => {
    const replaced = (what: string, by: readonly Candidate[]): void => {
      changes.push({ what: `candidate ${index}: ${what}`, candidates: listed.toSpliced(index, 1, ...by) });
    };
    replaced('dropped', []);
    if (candidate.guard !== null) replaced('guard dropped', [{ ...candidate, guard: null }]);
    const others = table.states.filter((other) => other !== (candidate.target ?? state));
    const quiet = { ...candidate, answer: null, refuse: null, decideAs: null };
    replaced('target changed', [{ ...quiet, target: others[index % others.length] ?? null }]);
    candidate.effects.forEach((effect, place) => {
      replaced(`${effect} dropped`, [{ ...candidate, effects: candidate.effects.toSpliced(place, 1) }]);
    });
    if (candidate.answer !== null) replaced('answer turned into a move', [quiet]);
  });
  return changes;
}

function withPair(table: Table, state: string, event: string, candidates: readonly Candidate[] | null): Table {
  const { [event]: _, ...others } = table.rows[state] ?? {};
  const row = candidates === null ? others : { ...others, [event]: candidates };
  return { ...table, rows: { ...table.rows, [state]: row } };
}
