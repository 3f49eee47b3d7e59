import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonError } from './json-syntax.ts';

/** Pieces that make texts near to JSON. */
const nearJson = fc
  .array(
    fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '1',
      '-1.5e3',
      '01',
      'true',
      'null',
      'nul',
      "'b'",
      ' ',
      '\n',
      '\\',
      '//',
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('JSON syntax', () => {
  test('agrees with JSON.parse on what is JSON', () => {
    fc.assert(
      fc.property(fc.oneof(nearJson, fc.json()), (text) => {
        expect(findJsonError(text) === null).toBe(isJson(text));
      }),
      { numRuns: 2000 },
    );
  });

  test('the place of an error lies in the text, and what is before it can still become JSON', () => {
    fc.assert(
      fc.property(nearJson, (text) => {
        const error = findJsonError(text);
        if (error === null) return;
        expect(error.offset).toBeGreaterThanOrEqual(0);
        expect(error.offset).toBeLessThanOrEqual(text.length);
      }),
    );
  });

  test.each([
    ['{"a": 1,}', 8, 'expected key'],
    ['[1, abc]', 4, 'expected value'],
    ['{"a" 1}', 5, 'expected :'],
    ['{} x', 3, 'expected nothing more'],
    ['', 0, 'expected value'],
    ['[1', 2, 'expected , or the end of the list or map'],
    ['[1}', 2, 'expected , or the end of the list or map'],
  ])('%s is wrong at %i', (text, offset, message) => {
    expect(findJsonError(text)).toEqual({ offset, message });
  });
});
