/**
 * Guard classes: all the ways the guards of a pair can be true together. The guards are taken as independent, which
 * covers more than real inputs can produce; `chart-grids.ts` covers the real ones.
 */
import type { AnyStateMachine } from 'xstate';
import type { Chart, Guards, Table } from '../charts/chart.ts';
import type { AnyChart } from '../charts/charts.ts';

export type Assignment = ReadonlyMap<string, boolean>;

export function assignments(guards: readonly string[]): readonly Assignment[] {
  return Array.from({ length: 2 ** guards.length }, (_, bits) => {
    return new Map(guards.map((guard, index) => [guard, ((bits >> index) & 1) === 1]));
  });
}

export const describeAssignment = (assignment: Assignment): string =>
  [...assignment].map(([guard, holds]) => `${holds ? '' : 'not '}${guard}`).join(', ') || 'always';

/** Guards that occur in the candidates of a pair, by the machine's own account and by the table's. */
export function guardsOfPair(machine: AnyStateMachine, table: Table, state: string, event: string): readonly string[] {
  const names = new Set<string>();
  for (const { guard } of machine.states[state]?.transitions.get(event) ?? []) {
    if (typeof guard === 'string') names.add(guard);
  }
  for (const { guard } of table.rows[state]?.[event] ?? []) if (guard !== null) names.add(guard);
  return [...names];
}

export interface MockedChart {
  readonly machine: AnyStateMachine;
  readonly chart: Chart<Assignment>;
  /** Sets what the guards of the machine answer from now on. */
  readonly assume: (assignment: Assignment) => void;
}

/** The chart with guards that answer what the assignment says: `machine` for XState, `chart` for `step`. */
export function mocked(chart: AnyChart): MockedChart {
  let current: Assignment = new Map();
  const names = Object.keys(chart.guards);
  const forMachine = names.map((name) => [name, () => current.get(name) === true] as const);
  const forTable = names.map((name) => [name, (assignment: Assignment) => assignment.get(name) === true] as const);
  const machine = chart.machine.provide({ guards: Object.fromEntries(forMachine) });
  const guards: Guards<Assignment> = Object.fromEntries(forTable);
  return {
    machine,
    chart: { machine, guards, table: chart.table },
    assume: (assignment) => {
      current = assignment;
    },
  };
}
