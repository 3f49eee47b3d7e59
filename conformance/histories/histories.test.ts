import { describe, expect, test } from 'vitest';
import type { Table } from '../../machines/index.ts';
import { charts } from '../../machines/index.ts';
import { parseArguments } from './arguments.ts';
import { searchHistories } from './search.ts';

/** The run's table with one pair taken out. */
function without(table: Table, state: string, event: string): Table {
  const { [event]: _, ...others } = table.rows[state] ?? {};
  return { ...table, rows: { ...table.rows, [state]: others } };
}

describe('histories', () => {
  test('000 §364.2, 000 §364.3: hostile histories over random plans break nothing', () => {
    const { failure, runs } = searchHistories({ runs: 400, seed: 20_260_101 });
    expect(failure).toBeNull();
    expect(runs).toBe(400);
  });

  test('000 §364.6: the same seed gives the same histories', () => {
    const [once, again] = [1, 2].map(() => searchHistories({ runs: 60, seed: 7 }).tally);
    expect(once?.counts).toEqual(again?.counts);
    expect(once?.factCount).toBe(again?.factCount);
  });

  test('a wrong chart is found, shrunk and replayed from seed and path', () => {
    const wrong = {
      ...charts,
      lease: { ...charts.lease, table: without(charts.lease.table, 'Held', 'AttemptFailed') },
    };
    const { failure } = searchHistories({ runs: 500, seed: 3, charts: wrong });
    expect(failure?.violations.join()).toContain('AttemptFailed');
    const replayed = searchHistories({ runs: 500, seed: 3, path: failure?.path ?? '', charts: wrong });
    expect(replayed.failure?.history).toBe(failure?.history);
    expect(replayed.failure?.violations[0]).toContain('AttemptFailed');
  });

  test('arguments: good ones are taken, others are named', () => {
    expect(parseArguments([])).toEqual({ runs: 20_000, seed: null, path: null });
    expect(parseArguments(['--runs', '5', '--seed=-9', '--path', '1:2'])).toEqual({
      runs: 5,
      seed: -9,
      path: '1:2',
    });
    for (const wrong of [
      ['--runs', '0'],
      ['--runs', 'x'],
      ['--seed', '1.5'],
      ['--path', 'a', '--seed', '1'],
      ['--path', '1'],
      ['--what'],
      ['more'],
    ]) {
      expect(parseArguments(wrong)).toBeTypeOf('string');
    }
  });
});
