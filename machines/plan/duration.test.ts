import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, parseDuration } from './duration.ts';

describe('durations', () => {
  test.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    ['0s', 0],
  ])('%s is %i ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });

  test.each(['', '5', 's', '5 min', '-1s', '1e3s', '5S', '1.s', '.5s', '٣s', `${'9'.repeat(40)}s`])(
    '"%s" is no duration',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );

  test('what is formatted reads back as the same number', () => {
    fc.assert(
      fc.property(fc.nat(2_592_000_000), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
      }),
    );
  });
});
