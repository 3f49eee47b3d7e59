import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  attemptInputs,
  claimInputs,
  gateInputs,
  jobInputs,
  leaseInputs,
  runInputs,
} from '../test-support/chart-inputs.ts';
import { describeStep } from '../test-support/describe-step.ts';
import { mocked } from '../test-support/guard-classes.ts';
import { proveEquality, provePair } from '../test-support/table-equality.ts';
import { mutations } from '../test-support/table-mutations.ts';
import { describeTransition, snapshotOf } from '../test-support/xstate-step.ts';
import type { Chart } from './chart.ts';
import { step } from './chart.ts';
import { allCharts, chartNames } from './charts.ts';

describe.each(chartNames)('table of the %s chart', (name) => {
  const chart = allCharts[name];

  test('decides what the statechart decides, for every state, event and guard class', () => {
    const { compared, differences } = proveEquality(chart);
    expect(differences).toEqual([]);
    expect(compared).toBeGreaterThan(chart.table.states.length * chart.table.events.length);
  });

  test('the proof notices every dropped or changed guard, target, effect, candidate and pair', () => {
    const mock = mocked(chart);
    const all = mutations(chart.table);
    const unnoticed = all.filter(
      ({ table, state, event }) => provePair(mock, table, state, event).differences.length === 0,
    );
    expect(unnoticed.map(({ state, event, what }) => `${state} x ${event}: ${what}`)).toEqual([]);
    expect(all.length).toBeGreaterThan(chart.table.states.length);
  });
});

/** Every pair of the chart, under one real input: the machine's own guards against the table's. */
function disagreements<Input>(chart: Chart<Input>, input: Input): readonly string[] {
  return chart.table.states.flatMap((state) => {
    const snapshot = snapshotOf(chart.machine, state, input);
    return chart.table.events.filter(
      (event) => describeTransition(chart.machine, snapshot, event) !== describeStep(step(chart, state, event, input)),
    );
  });
}

function agrees<Input>(chart: Chart<Input>, inputs: fc.Arbitrary<Input>): void {
  fc.assert(
    fc.property(inputs, (input) => {
      expect(disagreements(chart, input)).toEqual([]);
    }),
    { numRuns: 40 },
  );
}

describe('real guards over generated inputs: table and statechart decide alike', () => {
  test('run', () => agrees(allCharts.run, runInputs));
  test('job', () => agrees(allCharts.job, jobInputs));
  test('attempt', () => agrees(allCharts.attempt, attemptInputs));
  test('lease', () => agrees(allCharts.lease, leaseInputs));
  test('gate', () => agrees(allCharts.gate, gateInputs));
  test('session', () => agrees(allCharts.session, claimInputs));
  test('outbox', () => agrees(allCharts.outbox, claimInputs));
  test('timer', () => agrees(allCharts.timer, claimInputs));
  test('effect', () => agrees(allCharts.effect, claimInputs));
  test('a guard that lies on one side only is noticed', () => {
    const lying: typeof allCharts.gate = {
      ...allCharts.gate,
      guards: { ...allCharts.gate.guards, notOpen: () => false },
    };
    expect(() => agrees(lying, gateInputs)).toThrow(/Property failed/);
  });
});
