/** Every small wrong chart: a guard dropped or negated, a candidate, a whole pair, or one effect gone. */
import type { Candidate, Chart, Table } from '../../machines/index.ts';

export interface Mutation {
  /** `Running x WorkFinished [0] guard due negated`; unique within its chart. */
  readonly id: string;
  readonly table: Table;
  /** Negated guards by the name the table calls them. */
  readonly negated: readonly (readonly [name: string, of: string])[];
}

/** The chart with one mutation; its machine is left as it is, since decisions run on tables. */
export function mutated<Input>(chart: Chart<Input>, mutation: Mutation): Chart<Input> {
  const negations = mutation.negated.map(([name, of]) => {
    const guard = chart.guards[of];
    if (guard === undefined) throw new Error(`chart ${chart.table.id} has no guard ${of}`);
    return [name, (input: Input) => !guard(input)] as const;
  });
  return { ...chart, table: mutation.table, guards: { ...chart.guards, ...Object.fromEntries(negations) } };
}

export function mutationsOf(table: Table): readonly Mutation[] {
  return Object.entries(table.rows).flatMap(([state, row]) =>
    Object.entries(row).flatMap(([event, candidates]) => ofPair(table, state, event, candidates)),
  );
}

function ofPair(table: Table, state: string, event: string, candidates: readonly Candidate[]): readonly Mutation[] {
  const found: Mutation[] = [];
  const pair = `${state} x ${event}`;
  const add = (id: string, row: readonly Candidate[] | null, negated: Mutation['negated'] = []): void => {
    found.push({ id, table: withPair(table, state, event, row), negated });
  };
  add(`${pair} dropped`, null);
  for (const [at, candidate] of candidates.entries()) {
    const by = (...row: readonly Candidate[]) => candidates.toSpliced(at, 1, ...row);
    const { guard, effects } = candidate;
    if (candidates.length > 1) add(`${pair} [${at}] dropped`, by());
    if (guard !== null) {
      add(`${pair} [${at}] guard ${guard} dropped`, by({ ...candidate, guard: null }));
      add(`${pair} [${at}] guard ${guard} negated`, by({ ...candidate, guard: `not ${guard}` }), [
        [`not ${guard}`, guard],
      ]);
    }
    for (const [place, effect] of effects.entries()) {
      add(`${pair} [${at}] effect ${effect} dropped`, by({ ...candidate, effects: effects.toSpliced(place, 1) }));
    }
  }
  return found;
}

function withPair(table: Table, state: string, event: string, candidates: readonly Candidate[] | null): Table {
  const { [event]: _, ...others } = table.rows[state] ?? {};
  const row = candidates === null ? others : { ...others, [event]: candidates };
  return { ...table, rows: { ...table.rows, [state]: row } };
}
