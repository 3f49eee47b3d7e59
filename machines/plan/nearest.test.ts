import { describe, expect, test } from 'vitest';
import { nearestFinder } from './nearest.ts';

describe('the nearest name', () => {
  test.each([
    ['biuld', ['build', 'test'], 'build'],
    ['Test', ['build', 'test'], 'test'],
    ['needs', ['steps', 'need'], 'need'],
    ['q', ['a', 'b'], null],
    ['documentation', ['build', 'test'], null],
  ])('%s among %j is %s', (name, candidates, expected) => {
    expect(nearestFinder()(name, candidates)).toBe(expected);
  });

  test('the finder stops looking when its budget is spent, so that a wrong plan costs linear time', () => {
    const nearest = nearestFinder();
    const candidates = Array.from({ length: 30_000 }, (_, index) => `job-${index}`);
    expect(nearest('jbo-29999', candidates)).toBe('job-29999');
    expect(nearest('jbo-29999', candidates)).not.toBe('job-29999');
  });
});
