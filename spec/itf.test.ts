import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TlaValue } from './itf.ts';
import { decodeItfValue, encodeItfValue, readItf, writeItf } from './itf.ts';

const value: fc.Arbitrary<TlaValue> = fc.letrec<{ value: TlaValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.boolean(),
    fc.bigInt(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.record({ kind: fc.constant('set' as const), members: fc.array(tie('value'), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('tuple' as const), items: fc.array(tie('value'), { maxLength: 3 }) }),
    fc.record({
      kind: fc.constant('map' as const),
      entries: fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('record' as const),
      fields: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie('value'), { maxKeys: 3, noNullPrototype: true }),
    }),
  ),
})).value;

describe('itf', () => {
  it('values: what is written is read back, whatever their depth', () => {
    fc.assert(
      fc.property(value, (one) => {
        expect(decodeItfValue(JSON.parse(JSON.stringify(encodeItfValue(one))))).toEqual(one);
      }),
    );
  });

  it('traces: states keep their order and their variables', () => {
    const trace = {
      variables: ['job', 'n'],
      states: [
        { job: 'Pending', n: 0n },
        { job: 'Eligible', n: 1n },
      ],
    };
    expect(readItf(writeItf(trace, 'two steps'))).toEqual(trace);
  });

  it.each([
    ['a state without a declared variable', '{"vars":["x"],"states":[{}]}', /state 0 has no x/],
    ['a fraction', '{"vars":["x"],"states":[{"x":1.5}]}', /states\[0\].x: 1.5 is no whole number/],
    ['an unknown tag', '{"vars":["x"],"states":[{"x":{"#fun":[]}}]}', /unknown tag #fun/],
    ['a map entry of three', '{"vars":["x"],"states":[{"x":{"#map":[[1,2,3]]}}]}', /a map entry is \[key, value\]/],
    ['null', '{"vars":["x"],"states":[{"x":null}]}', /ITF has no null/],
  ])('traces: %s is refused with its place', (_, text, message) => {
    expect(() => readItf(text)).toThrow(message);
  });
});
