import { describe, expect, test } from 'vitest';
import { charts } from '../../machines/index.ts';
import { behaviours } from './index.ts';

describe('core', () => {
  for (const { name, run } of behaviours) test(name, () => run(charts));

  test('no two behaviours have one name', () => {
    expect(new Set(behaviours.map(({ name }) => name)).size).toBe(behaviours.length);
  });
});
