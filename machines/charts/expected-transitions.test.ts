import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { grids } from '../test-support/chart-grids.ts';
import { compareExpected, comparePair, parseExpected, unknownNames } from '../test-support/expected-transitions.ts';
import { mutations } from '../test-support/table-mutations.ts';
import { allCharts, chartNames } from './charts.ts';

const folder = new URL('../test-support/expected-transitions/', import.meta.url);

describe.each(chartNames)('expected transitions of the %s', (name) => {
  const { table } = allCharts[name];
  const grid = grids[name];
  const lines = parseExpected(readFileSync(new URL(`${name}.txt`, folder), 'utf8'));

  test('every state x event x class of inputs is decided as the rules say', () => {
    expect(unknownNames(lines, table, grid)).toEqual([]);
    expect(compareExpected(lines, table, grid)).toEqual({ differences: [], unused: [] });
  });

  test('every dropped or changed guard, target, effect, candidate and pair contradicts them', () => {
    const all = mutations(table);
    const unnoticed = all.filter((mutation) => comparePair(lines, mutation.table, grid, mutation).difference === null);
    expect(unnoticed.map(({ state, event, what }) => `${state} x ${event}: ${what}`)).toEqual([]);
    expect(all.length).toBeGreaterThan(table.states.length);
  });
});
