import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FailureClass } from '../model/failure-class.ts';
import {
  budgetOf,
  failureClasses,
  finalFailureClasses,
  infrastructureFailureClasses,
  workloadFailureClasses,
} from '../model/failure-class.ts';
import type { BackoffPolicy, RetryPolicy } from '../plan/plan.ts';
import { drawDelayMs, retryVerdict } from './retry.ts';

const policy = (given: Partial<RetryPolicy> = {}): RetryPolicy => ({
  attemptsMax: 3,
  retryOn: ['UserCommand', 'Timeout'],
  infrastructureRetriesMax: 2,
  backoff: { kind: 'none' },
  ...given,
});
const failure = (failureClass: FailureClass, transient = true) => ({ failureClass, transient });
const spent = (workloadFailures: number, infrastructureFailures: number) => ({
  workloadFailures,
  infrastructureFailures,
});
const exponential: BackoffPolicy = { kind: 'exponential', baseMs: 1_000, factor: 3, maxMs: 10_000 };

describe('retry', () => {
  test('every failure class has one budget', () => {
    expect(failureClasses.map(budgetOf)).toEqual([
      ...workloadFailureClasses.map(() => 'workload'),
      ...infrastructureFailureClasses.map(() => 'infrastructure'),
      ...finalFailureClasses.map(() => 'none'),
    ]);
  });

  test('000 §364.6: workload classes are retried where the plan lists them, up to its attempts', () => {
    for (const [failed, retried] of [
      [0, true],
      [1, true],
      [2, false],
      [3, false],
    ] as const) {
      const verdict = retryVerdict(policy(), spent(failed, 9), failure('UserCommand'), 0);
      expect(verdict).toEqual({ retry: retried, delayMs: 0, budget: 'workload' });
    }
    expect(retryVerdict(policy(), spent(0, 0), failure('TestFailure'), 0).retry).toBe(false);
    expect(retryVerdict(policy({ attemptsMax: 1 }), spent(0, 0), failure('UserCommand'), 0).retry).toBe(false);
  });

  test('infrastructure classes are retried unasked, up to their own bound, unless reported as permanent', () => {
    for (const failureClass of infrastructureFailureClasses) {
      for (const [failed, retried] of [
        [0, true],
        [1, true],
        [2, false],
      ] as const) {
        const verdict = retryVerdict(policy({ retryOn: [] }), spent(9, failed), failure(failureClass), 0);
        expect(verdict).toEqual({ retry: retried, delayMs: 0, budget: 'infrastructure' });
      }
      expect(retryVerdict(policy(), spent(0, 0), failure(failureClass, false), 0).retry).toBe(false);
    }
  });

  test('final classes are never retried, even where a plan lists them', () => {
    for (const failureClass of finalFailureClasses) {
      const verdict = retryVerdict(policy({ retryOn: [failureClass] }), spent(0, 0), failure(failureClass), 0);
      expect(verdict).toEqual({ retry: false, delayMs: 0, budget: 'none' });
    }
  });

  test('backoff: none waits not at all, fixed always the same', () => {
    expect(drawDelayMs({ kind: 'none' }, 5, 0.9)).toBe(0);
    expect([1, 2, 9].map((failures) => drawDelayMs({ kind: 'fixed', delayMs: 700 }, failures, 0.9))).toEqual([
      700, 700, 700,
    ]);
  });

  test('backoff: exponential draws from a ceiling that grows to its maximum', () => {
    const highest = [1, 2, 3, 4, 50].map((failures) => drawDelayMs(exponential, failures, 1 - Number.EPSILON));
    expect(highest).toEqual([1_000, 3_000, 9_000, 10_000, 10_000]);
    expect(drawDelayMs(exponential, 3, 0)).toBe(1);
    expect(drawDelayMs(exponential, 2, 0.5)).toBe(1_500);
  });

  test('both kinds of failure make the delay longer', () => {
    const drawn = (work: number, machinery: number) =>
      retryVerdict(policy({ backoff: exponential }), spent(work, machinery), failure('Infrastructure'), 0.9).delayMs;
    expect([drawn(0, 0), drawn(1, 0), drawn(0, 1), drawn(1, 1)]).toEqual([900, 2_700, 2_700, 8_100]);
  });

  test('a drawn delay is a whole number of ms from 1 to the ceiling, whatever the numbers', () => {
    const backoff = fc.record({
      kind: fc.constant('exponential' as const),
      baseMs: fc.integer({ min: 1, max: 3_600_000 }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      maxMs: fc.integer({ min: 1, max: 86_400_000 }),
    });
    const draw = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(backoff, fc.integer({ min: 1, max: 2_000 }), draw, (given, failures, random) => {
        const delayMs = drawDelayMs(given, failures, random);
        return Number.isSafeInteger(delayMs) && delayMs >= 1 && delayMs <= given.maxMs;
      }),
    );
  });
});
