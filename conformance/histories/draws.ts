/** One drawn step: numbers that `commandFor` reads against whatever the world then is. */
import fc from 'fast-check';

export interface Draw {
  /** 0-99: which kind of step. */
  readonly kind: number;
  /** Which node, attempt, timer or old command. */
  readonly which: number;
  /** Which variant of it. */
  readonly how: number;
}

export const drawArbitrary: fc.Arbitrary<Draw> = fc.record({
  kind: fc.nat({ max: 99 }),
  which: fc.nat({ max: 23 }),
  how: fc.nat({ max: 23 }),
});

/** The member a number points at. */
export function pick<T>(members: readonly T[], at: number): T {
  const member = members[at % members.length];
  if (member === undefined) throw new Error('nothing to pick from');
  return member;
}
