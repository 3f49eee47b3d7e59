/** The proof that a compiled table and its statechart are one: every state x event x guard class. */

import type { Table } from '../charts/chart.ts';
import { step } from '../charts/chart.ts';
import type { AnyChart } from '../charts/charts.ts';
import { describeStep } from './describe-step.ts';
import type { MockedChart } from './guard-classes.ts';
import { assignments, describeAssignment, guardsOfPair, mocked } from './guard-classes.ts';
import { describeTransition, snapshotOf } from './xstate-step.ts';

export interface Proof {
  readonly compared: number;
  readonly differences: readonly string[];
}

/** An event no chart knows: both sides must refuse it too. */
const strangeEvent = 'NoSuchEvent';

/** Compares the whole chart with `table` (by default its own). */
export function proveEquality(chart: AnyChart, table: Table = chart.table): Proof {
  const mock = mocked(chart);
  const states = new Set([...Object.keys(chart.machine.states), ...table.states]);
  const events = new Set([...chart.machine.events, ...table.events, strangeEvent]);
  const proofs = [...states].flatMap((state) => [...events].map((event) => provePair(mock, table, state, event)));
  return {
    compared: proofs.reduce((sum, { compared }) => sum + compared, 0),
    differences: proofs.flatMap(({ differences }) => differences),
  };
}

export function provePair(mock: MockedChart, table: Table, state: string, event: string): Proof {
  const { machine, assume } = mock;
  if (machine.states[state] === undefined)
    return { compared: 1, differences: [`${state}: not a state of the machine`] };
  const snapshot = snapshotOf(machine, state, {});
  const classes = assignments(guardsOfPair(machine, table, state, event));
  const differences: string[] = [];
  for (const assignment of classes) {
    assume(assignment);
    const definition = describeTransition(machine, snapshot, event);
    const compiled = describeStep(step({ ...mock.chart, table }, state, event, assignment));
    if (definition !== compiled) {
      differences.push(
        `${state} x ${event} (${describeAssignment(assignment)}): the chart says ${definition}, the table ${compiled}`,
      );
    }
  }
  return { compared: classes.length, differences };
}
