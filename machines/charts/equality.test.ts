import { describe, expect, test } from 'vitest';
import { mocked } from '../test-support/guard-classes.ts';
import { proveEquality, provePair } from '../test-support/table-equality.ts';
import { mutations } from '../test-support/table-mutations.ts';
import { chartNames, charts } from './charts.ts';

describe.each(chartNames)('table of the %s chart', (name) => {
  const chart = charts[name];

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
