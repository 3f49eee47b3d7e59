/**
 * The expected transitions: what each pair must decide, written by hand from the rules and not from the charts, so
 * that a table generated from a wrong chart cannot pass. `expected-transitions/*.txt` holds lines of
 * `states | events | facts | decision`; `chart-grids.ts` gives the facts.
 */
import type { Table } from '../charts/chart.ts';
import type { Grid, InputClass } from './chart-grids.ts';
import { describeMove } from './describe-step.ts';

export interface ExpectedLine {
  readonly number: number;
  readonly states: readonly string[];
  readonly events: readonly string[];
  readonly facts: readonly (readonly [fact: string, values: readonly string[]])[];
  readonly decision: string;
}

export function parseExpected(text: string): readonly ExpectedLine[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '' || line.startsWith('#')) return [];
    const [states, events, facts, decision, ...rest] = line.split('|').map((column) => column.trim());
    if (states === undefined || events === undefined || facts === undefined || !decision || rest.length > 0) {
      throw new Error(`line ${index + 1}: not "states | events | facts | decision"`);
    }
    return [
      {
        number: index + 1,
        states: words(states),
        events: words(events),
        facts: facts === '' ? [] : facts.split(',').map(parseFact),
        decision: normal(decision),
      },
    ];
  });
}

const words = (text: string): readonly string[] => text.split(/\s+/);

function parseFact(text: string): readonly [string, readonly string[]] {
  const [fact, values] = text.trim().split('=');
  if (fact === undefined || values === undefined) throw new Error(`not a fact: ${text}`);
  return [fact, values.split('/')];
}

/** `answer`, `refuse` and `as` stay; a move is put in the form of `describeMove`. */
function normal(decision: string): string {
  if (/^(answer|refuse|as) \w+$/.test(decision)) return decision;
  const [target = '', effects = ''] = decision.split(':');
  return describeMove(target.trim(), effects.split(' ').filter(Boolean));
}

/** Names in the lines that no chart or grid has: a line with a typing error would never apply. */
export function unknownNames(lines: readonly ExpectedLine[], table: Table, grid: Grid): readonly string[] {
  return lines.flatMap((line) => {
    const states = line.states.filter((state) => !table.states.includes(state));
    const events = line.events.filter((event) => !table.events.includes(event));
    const facts = line.facts.flatMap(([fact, values]) =>
      values.filter((value) => grid.facts[fact]?.includes(value) !== true).map((value) => `${fact}=${value}`),
    );
    return [...states, ...events, ...facts].map((name) => `line ${line.number}: ${name}`);
  });
}

export interface Comparison {
  readonly differences: readonly string[];
  /** Lines that decided nothing: superseded by earlier ones, so a reader would be misled. */
  readonly unused: readonly number[];
}

/** Compares every state x event x class of inputs of a chart with the lines. */
export function compareExpected(lines: readonly ExpectedLine[], table: Table, grid: Grid): Comparison {
  const pairs = table.states.flatMap((state) => table.events.map((event) => ({ state, event })));
  const compared = pairs.map((pair) => comparePair(lines, table, grid, pair));
  const used = new Set(compared.flatMap((each) => each.used));
  return {
    differences: compared.flatMap(({ difference }) => difference ?? []),
    unused: lines.map(({ number }) => number).filter((number) => !used.has(number)),
  };
}

/** One example per pair is enough to read. `table` may be another one than the chart's, to show that errors are seen. */
export function comparePair(
  lines: readonly ExpectedLine[],
  table: Table,
  grid: Grid,
  { state, event }: { readonly state: string; readonly event: string },
): { readonly difference: string | null; readonly used: readonly number[] } {
  const used = new Set<number>();
  const unlisted = `refuse ${table.terminal.includes(state) ? 'AlreadyTerminal' : 'IllegalTransition'}`;
  const ofPair = lines.filter((line) => line.states.includes(state) && line.events.includes(event));
  for (const inputClass of grid.classes) {
    const line = ofPair.find((each) => each.facts.every(([fact, values]) => values.includes(factOf(inputClass, fact))));
    if (line !== undefined) used.add(line.number);
    const expected = line?.decision ?? unlisted;
    const decided = inputClass.decide(state, event, table);
    if (expected !== decided) {
      return { difference: `${state} x ${event}: expected ${expected}, the table says ${decided}`, used: [...used] };
    }
  }
  return { difference: null, used: [...used] };
}

const factOf = (inputClass: InputClass, fact: string): string => inputClass.facts[fact] ?? '';
