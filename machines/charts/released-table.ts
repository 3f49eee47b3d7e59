/**
 * A table in the form that is released: JSON for people, other languages and recorded histories.
 *  T1 total: every state has an entry for every event of the chart, also the refused ones.
 *  T2 the decisions of a pair are tried in order; `when` names a guard, the last one has none.
 *  T3 a pair the chart does not list is refused AlreadyTerminal or IllegalTransition; no listed one is.
 */
import { z } from 'zod';
import type { Candidate, Table } from './chart.ts';
import { tableVersion } from './table-version.ts';

const when = z.string().optional();
const releasedDecision = z.union([
  z.strictObject({ when, to: z.string(), effects: z.array(z.string()).optional() }),
  z.strictObject({ when, answer: z.string() }),
  z.strictObject({ when, refuse: z.string() }),
  z.strictObject({ when, decideAs: z.string() }),
]);
export type ReleasedDecision = z.infer<typeof releasedDecision>;

export const releasedTableSchema = z.strictObject({
  chart: z.string(),
  tableVersion: z.int().positive(),
  initial: z.string(),
  terminal: z.array(z.string()),
  /** state -> event -> decisions in order. */
  decisions: z.record(z.string(), z.record(z.string(), z.array(releasedDecision).min(1))),
});
export type ReleasedTable = z.infer<typeof releasedTableSchema>;

/** `events` gives the order; it must hold every event of the table. */
export function releasedTable(table: Table, events: readonly string[]): ReleasedTable {
  const missing = table.events.filter((event) => !events.includes(event));
  if (missing.length > 0) throw new Error(`table ${table.id}: no place for ${missing.join(', ')}`);
  const decisions = table.states.map((state) => [state, releasedRow(table, state, events)] as const);
  return {
    chart: table.id,
    tableVersion,
    initial: table.initial,
    terminal: [...table.terminal],
    decisions: Object.fromEntries(decisions),
  };
}

function releasedRow(table: Table, state: string, events: readonly string[]): Record<string, ReleasedDecision[]> {
  const unlisted: ReleasedDecision = { refuse: unlistedCode(table, state) };
  return Object.fromEntries(
    events.map((event) => {
      const candidates = table.rows[state]?.[event];
      return [event, candidates?.map((candidate) => releasedDecisionOf(state, candidate)) ?? [unlisted]];
    }),
  );
}

/** Why a pair that the chart does not list is refused. */
export function unlistedCode(table: Pick<Table, 'terminal'>, state: string): 'AlreadyTerminal' | 'IllegalTransition' {
  return table.terminal.includes(state) ? 'AlreadyTerminal' : 'IllegalTransition';
}

function releasedDecisionOf(state: string, candidate: Candidate): ReleasedDecision {
  const condition = candidate.guard === null ? {} : { when: candidate.guard };
  if (candidate.answer !== null) return { ...condition, answer: candidate.answer };
  if (candidate.refuse !== null) return { ...condition, refuse: candidate.refuse };
  if (candidate.decideAs !== null) return { ...condition, decideAs: candidate.decideAs };
  const effects = candidate.effects.length === 0 ? {} : { effects: [...candidate.effects] };
  return { ...condition, to: candidate.target ?? state, ...effects };
}

/** The decision a released table gives; `holds` says which guards are true. */
export function decideByTable(
  table: ReleasedTable,
  state: string,
  event: string,
  holds: (guard: string) => boolean,
): ReleasedDecision {
  const decisions = table.decisions[state]?.[event];
  const taken = decisions?.find((decision) => decision.when === undefined || holds(decision.when));
  if (taken === undefined) throw new Error(`table ${table.chart}: no decision for ${state} x ${event}`);
  return taken;
}

/** JSON with one decision per line, so that a change reads as a change of decisions. */
export function formatReleasedTable(table: ReleasedTable): string {
  const states = Object.entries(table.decisions).map(([state, row]) => {
    const events = Object.entries(row).map(
      ([event, decisions]) => `      ${JSON.stringify(event)}: ${listed(decisions)}`,
    );
    return `    ${JSON.stringify(state)}: {\n${events.join(',\n')}\n    }`;
  });
  const head = [
    `  "chart": ${JSON.stringify(table.chart)}`,
    `  "tableVersion": ${table.tableVersion}`,
    `  "initial": ${JSON.stringify(table.initial)}`,
    `  "terminal": ${spaced(table.terminal)}`,
  ];
  return `{\n${head.join(',\n')},\n  "decisions": {\n${states.join(',\n')}\n  }\n}\n`;
}

function listed(decisions: readonly ReleasedDecision[]): string {
  const [first] = decisions;
  if (decisions.length === 1 && first !== undefined) return `[${spacedObject(first)}]`;
  return `[\n${decisions.map((decision) => `        ${spacedObject(decision)}`).join(',\n')}\n      ]`;
}

function spacedObject(decision: ReleasedDecision): string {
  const fields = Object.entries(decision).map(
    ([key, value]) => `${JSON.stringify(key)}: ${Array.isArray(value) ? spaced(value) : JSON.stringify(value)}`,
  );
  return `{ ${fields.join(', ')} }`;
}

const spaced = (values: readonly unknown[]): string => `[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
