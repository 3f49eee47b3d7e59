/** Runs as people and programs see them (000 §311): public ids, ISO times, nothing of the inside. */
import type { JobRow, JobState, RunRow } from '../../machines/index.ts';
import type { LoadedRun, RunCounts } from '../../store/index.ts';
import { publicId } from '../ids/index.ts';
import type { GateView, JobLine } from './node-view.ts';
import { gateView, jobLine } from './node-view.ts';
import type { ReasonView } from './reason-view.ts';
import { reasonView } from './reason-view.ts';
import { isoTime, isoTimeOrNull } from './time.ts';

export interface JobTotals {
  readonly total: number;
  readonly ended: number;
  readonly byState: Partial<Record<JobState, number>>;
}

export interface RunLine {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly state: RunRow['state'];
  /** What is being asked of it while it is not over. */
  readonly intent: string | null;
  readonly reason: ReasonView | null;
  readonly jobs: JobTotals;
  readonly priority: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdBy: string;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** From creation to the end, or to now. */
  readonly durationMs: number;
}

export interface RetryView {
  readonly job: string;
  readonly failedAttempt: number;
  readonly failureClass: string | null;
  readonly notBefore: string | null;
}

export interface RunView extends RunLine {
  readonly planDigest: string;
  readonly source: RunRow['source'];
  readonly concurrencyGroup: string | null;
  readonly deadlineAt: string | null;
  readonly rerunOf: string | null;
  readonly supersededBy: string | null;
  readonly requestId: string;
  readonly lastSequence: number;
  readonly activeRetries: readonly RetryView[];
  readonly nodes: readonly (JobLine | GateView)[];
}

const endedStates: readonly JobState[] = ['Succeeded', 'Failed', 'Cancelled', 'TimedOut', 'Skipped'];

export function totalsOf({ jobs, byState }: RunCounts): JobTotals {
  return { total: jobs, ended: endedStates.reduce((sum, state) => sum + (byState[state] ?? 0), 0), byState };
}

export function countJobs(jobs: readonly JobRow[]): RunCounts {
  const byState: Partial<Record<JobState, number>> = {};
  for (const { state } of jobs) byState[state] = (byState[state] ?? 0) + 1;
  return { jobs: jobs.length, byState };
}

export function runLine(run: RunRow, counts: RunCounts, now: number): RunLine {
  return {
    id: publicId('run', run.id),
    project: run.project,
    name: run.name,
    state: run.state,
    intent: run.intent?.kind ?? null,
    reason: reasonView(run.reason),
    jobs: totalsOf(counts),
    priority: run.priority,
    labels: run.labels,
    createdBy: run.createdBy,
    createdAt: isoTime(run.createdAt),
    startedAt: isoTimeOrNull(run.startedAt),
    finishedAt: isoTimeOrNull(run.finishedAt),
    durationMs: Math.max(0, (run.finishedAt ?? now) - run.createdAt),
  };
}

export function runView({ run, nodes, attempts }: LoadedRun, now: number): RunView {
  const jobs = nodes.filter((row) => row.kind === 'job');
  const current = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  return {
    ...runLine(run, countJobs(jobs), now),
    planDigest: run.planDigest,
    source: run.source,
    concurrencyGroup: run.concurrencyGroup,
    deadlineAt: isoTimeOrNull(run.deadlineAt),
    rerunOf: run.rerunOf === null ? null : publicId('run', run.rerunOf),
    supersededBy: run.intent?.supersededBy ? publicId('run', run.intent.supersededBy) : null,
    requestId: run.requestId,
    lastSequence: run.sequence,
    activeRetries: jobs.filter(isRetrying).map((job) => ({
      job: job.node,
      failedAttempt: job.attemptCount,
      failureClass: job.failureClass,
      notBefore: isoTimeOrNull(job.retryNotBefore),
    })),
    nodes: nodes.map((row) =>
      row.kind === 'gate'
        ? gateView(row)
        : jobLine(row, {
            now,
            attempt: row.currentAttempt === null ? null : (current.get(row.currentAttempt) ?? null),
          }),
    ),
  };
}

/** An attempt has failed and the job has not: another one is coming (000 §317). */
export function isRetrying(job: JobRow): boolean {
  const isQueued = job.state === 'RetryWaiting' || job.state === 'Eligible' || job.state === 'Lost';
  return isQueued && job.workloadFailures + job.infrastructureFailures > 0;
}
