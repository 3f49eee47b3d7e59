/** Two bounded budgets and a persisted backoff (000 §53-58, §197-198; state-machines: Budgets). */
import type { FailureBudget, FailureClass } from '../model/failure-class.ts';
import { budgetOf } from '../model/failure-class.ts';
import type { JobRow } from '../model/rows.ts';
import type { BackoffPolicy, RetryPolicy } from '../plan/plan.ts';

export interface RetryVerdict {
  readonly retry: boolean;
  /** Delay drawn for the retry, ms; 0 when there is no retry or no backoff. */
  readonly delayMs: number;
  readonly budget: FailureBudget;
}

export const noRetry: RetryVerdict = { retry: false, delayMs: 0, budget: 'none' };

/**
 * Whether a failure of this class is retried, given what the job has already spent.
 * `random` in [0, 1) draws the jitter; the caller persists the result (000 §57).
 */
export function retryVerdict(
  policy: RetryPolicy,
  spent: Pick<JobRow, 'workloadFailures' | 'infrastructureFailures'>,
  failure: { readonly failureClass: FailureClass; readonly transient: boolean },
  random: number,
): RetryVerdict {
  const budget = budgetOf(failure.failureClass);
  if (!isRetried(policy, spent, failure, budget)) return { retry: false, delayMs: 0, budget };
  const failures = spent.workloadFailures + spent.infrastructureFailures + 1;
  return { retry: true, delayMs: drawDelayMs(policy.backoff, failures, random), budget };
}

function isRetried(
  policy: RetryPolicy,
  spent: Pick<JobRow, 'workloadFailures' | 'infrastructureFailures'>,
  failure: { readonly failureClass: FailureClass; readonly transient: boolean },
  budget: FailureBudget,
): boolean {
  switch (budget) {
    case 'workload':
      return policy.retryOn.includes(failure.failureClass) && spent.workloadFailures + 1 < policy.attemptsMax;
    case 'infrastructure':
      return failure.transient && spent.infrastructureFailures < policy.infrastructureRetriesMax;
    case 'none':
      return false;
  }
}

/** Full jitter: uniform in (0, ceiling], whole ms; `failures` counts from 1. */
export function drawDelayMs(backoff: BackoffPolicy, failures: number, random: number): number {
  switch (backoff.kind) {
    case 'none':
      return 0;
    case 'fixed':
      return backoff.delayMs;
    case 'exponential': {
      const ceiling = Math.min(backoff.maxMs, backoff.baseMs * backoff.factor ** Math.min(failures - 1, 64));
      return Math.max(1, Math.ceil(random * ceiling));
    }
  }
}
