/** One job with everything about it (000 §312), and its attempts as a timeline (000 §313, §317, §318). */
import type { AttemptRow, JobRow, LeaseRow, OutputRef, PlannedJob, RunRow, SessionRow } from '../../machines/index.ts';
import { publicId, publicIdOrText } from '../ids/index.ts';
import type { JobLine } from './node-view.ts';
import { jobLine } from './node-view.ts';
import type { ReasonView } from './reason-view.ts';
import { reasonView } from './reason-view.ts';
import { isoTime, isoTimeOrNull } from './time.ts';

export interface JobRows {
  readonly run: RunRow;
  readonly job: JobRow;
  readonly planned: PlannedJob;
  /** All of the job, oldest first. */
  readonly attempts: readonly AttemptRow[];
  /** All of the job. */
  readonly leases: readonly LeaseRow[];
  /** Those of the attempts, as far as they are known. */
  readonly sessions: readonly SessionRow[];
  readonly now: number;
}

/** Whose fault an end was: the line between "the tests are red" and "a machine went away". */
export type AttemptFault = 'none' | 'workload' | 'infrastructure' | 'asked';

export interface AttemptView {
  readonly number: number;
  readonly id: string;
  readonly state: AttemptRow['state'];
  readonly fault: AttemptFault;
  readonly failureClass: string | null;
  readonly message: string | null;
  readonly step: string | null;
  readonly exit: AttemptRow['exit'];
  readonly reason: ReasonView | null;
  readonly runner: string;
  readonly leaseId: string;
  readonly epoch: number;
  readonly leasedAt: string;
  readonly preparingAt: string | null;
  readonly startedAt: string | null;
  readonly uploadingAt: string | null;
  readonly finishedAt: string | null;
  readonly durationMs: number;
  readonly log: string | null;
  readonly lateResult: boolean;
  /** What the job did after it: another attempt, or its end. */
  readonly followedBy: 'retried' | 'retrying' | 'job ended' | 'going on';
}

export interface LeaseView {
  readonly id: string;
  readonly state: LeaseRow['state'];
  readonly epoch: number;
  readonly issuedAt: string;
  readonly expiresAt: string;
}

export interface JobView extends JobLine {
  readonly run: string;
  readonly specDigest: string;
  readonly currentAttempt: AttemptView | null;
  readonly lease: LeaseView | null;
  readonly capabilities: readonly string[];
  /** What one attempt takes and how long it may take. */
  readonly resources: { readonly slots: number; readonly timeouts: PlannedJob['spec']['timeouts'] };
  readonly retry: PlannedJob['retry'];
  readonly attemptHistory: readonly AttemptView[];
  readonly failure: {
    readonly class: string | null;
    readonly message: string | null;
    readonly step: string | null;
  } | null;
  readonly outputs: readonly OutputRef[];
  readonly reports: readonly OutputRef[];
  readonly eligibleAt: string | null;
  readonly finishedAt: string | null;
}

export function jobView(rows: JobRows): JobView {
  const { run, job, planned, attempts, leases, now } = rows;
  const history = attemptViews(rows);
  const currentRow = attempts.find((attempt) => attempt.id === job.currentAttempt) ?? null;
  const lease = leases.find((each) => each.id === job.currentLease);
  const last = attempts.at(-1);
  return {
    ...jobLine(job, { now, attempt: currentRow }),
    runner: history.find((attempt) => attempt.number === currentRow?.number)?.runner ?? null,
    run: publicId('run', run.id),
    specDigest: job.specDigest,
    currentAttempt: history.find((attempt) => attempt.number === currentRow?.number) ?? null,
    lease: lease === undefined ? null : leaseView(lease),
    capabilities: job.capabilities,
    resources: { slots: 1, timeouts: planned.spec.timeouts },
    retry: planned.retry,
    attemptHistory: history,
    failure:
      job.failureClass === null
        ? null
        : {
            class: job.failureClass,
            message: last?.failureDetail?.message ?? null,
            step: last?.failureDetail?.step ?? null,
          },
    outputs: job.outputs,
    reports: last?.reports ?? [],
    eligibleAt: isoTimeOrNull(job.eligibleAt),
    finishedAt: isoTimeOrNull(job.finishedAt),
  };
}

const leaseView = (lease: LeaseRow): LeaseView => ({
  id: publicId('lease', lease.id),
  state: lease.state,
  epoch: lease.epoch,
  issuedAt: isoTime(lease.issuedAt),
  expiresAt: isoTime(lease.expiresAt),
});

export function attemptViews({ job, attempts, sessions, now }: JobRows): readonly AttemptView[] {
  const names = new Map(sessions.map((session) => [session.id, session.name]));
  return attempts.map((attempt, at) => ({
    number: attempt.number,
    id: publicId('att', attempt.id),
    state: attempt.state,
    fault: faultOf(attempt),
    failureClass: attempt.failureClass ?? (attempt.state === 'Lost' ? 'RunnerLost' : null),
    message: attempt.failureDetail?.message ?? null,
    step: attempt.failureDetail?.step ?? null,
    exit: attempt.exit,
    reason: reasonView(attempt.reason),
    runner: names.get(attempt.session) ?? publicIdOrText('runner', attempt.runner),
    leaseId: publicId('lease', attempt.leaseId),
    epoch: attempt.epoch,
    leasedAt: isoTime(attempt.leasedAt),
    preparingAt: isoTimeOrNull(attempt.preparingAt),
    startedAt: isoTimeOrNull(attempt.startedAt),
    uploadingAt: isoTimeOrNull(attempt.uploadingAt),
    finishedAt: isoTimeOrNull(attempt.finishedAt),
    durationMs: Math.max(0, (attempt.finishedAt ?? now) - attempt.leasedAt),
    log: attempt.log,
    lateResult: attempt.lateResult,
    followedBy: whatFollowed(attempt, attempts[at + 1], job),
  }));
}

const workloadClasses: ReadonlySet<string> = new Set(['CompileFailure', 'TestFailure', 'UserCommand', 'Timeout']);

export function faultOf(attempt: AttemptRow): AttemptFault {
  switch (attempt.state) {
    case 'Lost':
    case 'Rejected':
      return 'infrastructure';
    case 'Failed':
      return attempt.failureClass !== null && workloadClasses.has(attempt.failureClass) ? 'workload' : 'infrastructure';
    case 'TimedOut':
      return 'workload';
    case 'Cancelled':
      return 'asked';
    case 'Leased':
    case 'Preparing':
    case 'Running':
    case 'UploadingOutputs':
    case 'Succeeded':
      return 'none';
    default:
      return attempt.state satisfies never;
  }
}

function whatFollowed(attempt: AttemptRow, next: AttemptRow | undefined, job: JobRow): AttemptView['followedBy'] {
  if (attempt.finishedAt === null) return 'going on';
  if (next !== undefined) return 'retried';
  return job.finishedAt === null ? 'retrying' : 'job ended';
}
