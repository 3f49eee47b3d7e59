/** Why an attempt failed, and why the job was tried again or not. */
import type { AttemptRow, FailureClass, JobRow, PlannedJob } from '../../machines/index.ts';
import { budgetOf } from '../../machines/index.ts';
import { faultOf } from '../views/index.ts';

export function attemptText(attempt: AttemptRow): string {
  const failureClass = attempt.failureClass ?? (attempt.state === 'Lost' ? 'RunnerLost' : null);
  const { step = null, message = null } = attempt.failureDetail ?? {};
  const parts = [
    failureClass,
    faultOf(attempt) === 'infrastructure' ? 'infrastructure, not the workload' : null,
    step === null ? null : `step "${step}"`,
    attempt.exit === null ? null : exitText(attempt.exit),
    message,
  ].filter((part) => part !== null);
  return `attempt ${attempt.number} ended ${attempt.state}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
}

const exitText = ({ code, signal }: NonNullable<AttemptRow['exit']>): string =>
  signal === null ? `exit code ${code ?? '?'}` : `signal ${signal}`;

/** How much of its two budgets a job has used. */
export function budgetText(job: JobRow, { retry }: PlannedJob): string {
  const workload = `${job.workloadFailures} of ${retry.attemptsMax} attempts of the work`;
  return `used ${workload}, and ${job.infrastructureFailures} of ${retry.infrastructureRetriesMax} infrastructure retries`;
}

/** Why there is no further attempt. */
export function noRetryText(job: JobRow, planned: PlannedJob): string | null {
  const { failureClass } = job;
  if (failureClass === null) return null;
  const { retry } = planned;
  const budget = budgetOf(failureClass);
  switch (budget) {
    case 'workload':
      return !isListed(retry.retryOn, failureClass)
        ? `${failureClass} is not tried again: retry.on of the plan does not name it`
        : retry.attemptsMax === 1
          ? 'the plan allows one attempt of the work'
          : `all ${retry.attemptsMax} attempts of the work are used up`;
    case 'infrastructure':
      return job.infrastructureFailures > retry.infrastructureRetriesMax
        ? `all ${retry.infrastructureRetriesMax} infrastructure retries are used up`
        : 'the runner reported that trying again would not help';
    case 'none':
      return `${failureClass} is never tried again`;
    default:
      return budget satisfies never;
  }
}

const isListed = (classes: readonly FailureClass[], failureClass: FailureClass): boolean =>
  classes.includes(failureClass);
