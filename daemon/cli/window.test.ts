import { expect, it } from 'vitest';
import { windowOf } from './window.ts';

it('a terminal that says 0 columns or rows, or nothing, counts as 80 by 24', () => {
  expect(windowOf({ columns: 0, rows: 0 })).toEqual({ columns: 80, rows: 24 });
  expect(windowOf({})).toEqual({ columns: 80, rows: 24 });
  expect(windowOf({ columns: 1, rows: 200 })).toEqual({ columns: 1, rows: 200 });
});
