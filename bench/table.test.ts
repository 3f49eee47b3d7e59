import { describe, expect, test } from 'vitest';
import { transition } from 'xstate';
import { jobChart, step } from '../machines/index.ts';
import { benchTable, randomWalk } from './table.ts';

describe('bench: table', () => {
  test('the walk is the same for a seed, another for another, and comes through most of the life of a job', () => {
    expect(randomWalk(7, 200)).toEqual(randomWalk(7, 200));
    expect(randomWalk(7, 200)).not.toEqual(randomWalk(8, 200));
    const visited = new Set(randomWalk(1, 4_000).map(({ state }) => state));
    expect(visited).toEqual(new Set(jobChart.table.states.filter((state) => !jobChart.table.terminal.includes(state))));
  });

  test('both sides decide the walk alike, so that the same work is timed', () => {
    for (const { state, event, input } of randomWalk(2, 500)) {
      const [next] = transition(jobChart.machine, jobChart.machine.resolveState({ value: state, context: input }), {
        type: event,
      });
      const decided = step(jobChart, state, event, input);
      expect(next.value).toBe(decided.kind === 'move' ? decided.target : state);
    }
  });

  test('figures are positive, and the table is the faster side', () => {
    const { ratio, tableNsPerStep, xstateNsPerStep } = benchTable({ steps: 200, rounds: 1 });
    expect(tableNsPerStep).toBeGreaterThan(0);
    expect(xstateNsPerStep / tableNsPerStep).toBeCloseTo(ratio);
    expect(ratio).toBeGreaterThan(1);
  });
});
