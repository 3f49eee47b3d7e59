import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson } from './canonical-json.ts';

describe('canonical JSON', () => {
  test('one text whatever the order of the keys', () => {
    expect(canonicalJson({ b: [1, { d: null, c: true }], a: 'x' })).toBe('{"a":"x","b":[1,{"c":true,"d":null}]}');
    expect(canonicalJson({ '10': 1, '9': 2, a: 3, Z: 4 })).toBe('{"10":1,"9":2,"Z":4,"a":3}');
  });

  test('reads back as the value it was made from, and is the same for a shuffled copy', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = canonicalJson(value);
        expect(canonicalJson(JSON.parse(text))).toBe(text);
        expect(canonicalJson(reversed(value))).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ['undefined', undefined],
    ['a missing property', { a: undefined }],
    ['not a number', Number.NaN],
    ['infinity', [Number.POSITIVE_INFINITY]],
    ['a big integer', 1n],
    ['a function', () => 0],
    ['a date', new (class Sample {})()],
    ['a hole in a list', Array(1)],
    ['half a surrogate pair', '\ud800'],
    ['half a surrogate pair in a key', { '\udc00': 1 }],
  ])('refuses %s', (_, value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError);
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}
