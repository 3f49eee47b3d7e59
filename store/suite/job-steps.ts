/** The steps of one job: granted, accepted, through its phases, to one of its ends. */
import type {
  AttemptId,
  AttemptRow,
  CommitGuard,
  JobRow,
  LeaseId,
  LeaseRow,
  RunnerId,
  SessionId,
  Timestamp,
} from '../../machines/index.ts';
import type { Change, RunRows } from './change.ts';
import { id } from './ids.ts';
import type { Step } from './run-script.ts';
import { changeStep, currentAttempt, currentLease, jobAt } from './run-script.ts';

export interface GrantOptions {
  readonly index: number;
  readonly now: Timestamp;
  readonly session?: SessionId;
  readonly ttlMs?: number;
  readonly message?: string;
}

/** Eligible -> Leased, with the next attempt and the next epoch. */
export function grantStep(rows: RunRows, { index, now, message, ...options }: GrantOptions): Step {
  const job = jobAt(rows, index);
  const session = options.session ?? id<SessionId>('session-1');
  const number = job.attemptCount + 1;
  const epoch = job.leaseEpoch + 1;
  const leaseId = id<LeaseId>(`${job.id}.lease-${epoch}`);
  const attempt = newAttempt(job, { number, epoch, leaseId, session, now });
  const lease = newLease(attempt, { ttlMs: options.ttlMs ?? 30_000, now });
  const leased: JobRow = {
    ...job,
    state: 'Leased',
    reason: { code: 'Granted' },
    attemptCount: number,
    leaseEpoch: epoch,
    currentAttempt: attempt.id,
    currentLease: leaseId,
    leasedAt: now,
    version: job.version + 1,
  };
  const guards: readonly CommitGuard[] = options.session === undefined ? [] : [{ kind: 'session-active', session }];
  const change = { jobs: [leased], attempts: [attempt], leases: [lease], guards };
  return changeStep(rows, message === undefined ? change : { ...change, message }, now);
}

function newAttempt(
  job: JobRow,
  grant: {
    readonly number: number;
    readonly epoch: number;
    readonly leaseId: LeaseId;
    readonly session: SessionId;
    readonly now: Timestamp;
  },
): AttemptRow {
  return {
    id: id<AttemptId>(`${job.id}.attempt-${grant.number}`),
    runId: job.runId,
    jobId: job.id,
    jobIndex: job.index,
    number: grant.number,
    state: 'Leased',
    reason: { code: 'Granted' },
    runner: id<RunnerId>('runner-1'),
    session: grant.session,
    capabilities: job.capabilities,
    specDigest: job.specDigest,
    leaseId: grant.leaseId,
    epoch: grant.epoch,
    leasedAt: grant.now,
    preparingAt: null,
    startedAt: null,
    uploadingAt: null,
    finishedAt: null,
    preparationDeadlineAt: null,
    executionDeadlineAt: null,
    uploadDeadlineAt: null,
    exit: null,
    failureClass: null,
    failureDetail: null,
    outputs: [],
    reports: [],
    log: null,
    lateResult: false,
    version: 1,
  };
}

function newLease(attempt: AttemptRow, { ttlMs, now }: { readonly ttlMs: number; readonly now: Timestamp }): LeaseRow {
  return {
    id: attempt.leaseId,
    runId: attempt.runId,
    jobId: attempt.jobId,
    jobIndex: attempt.jobIndex,
    attemptId: attempt.id,
    runner: attempt.runner,
    session: attempt.session,
    epoch: attempt.epoch,
    state: 'Offered',
    reason: { code: 'Granted' },
    ttlMs,
    issuedAt: now,
    offerExpiresAt: now + 10_000,
    expiresAt: now + 10_000,
    renewedAt: now,
    creditMs: 0,
    finishedAt: null,
    version: 1,
  };
}

export interface OnJob {
  readonly index: number;
  readonly now: Timestamp;
  readonly message?: string;
}

const withMessage = (change: Change, message: string | undefined): Change =>
  message === undefined ? change : { ...change, message };

/** Leased -> Preparing: the offer becomes Held for its time to live. */
export function acceptStep(rows: RunRows, { index, now, message }: OnJob): Step {
  const job = jobAt(rows, index);
  const lease = currentLease(rows, index);
  const attempt = currentAttempt(rows, index);
  const change: Change = {
    run: rows.run.state === 'Queued' ? { state: 'Running', startedAt: now, version: rows.run.version + 1 } : {},
    jobs: [{ ...job, state: 'Preparing', preparingAt: now, version: job.version + 1 }],
    attempts: [{ ...attempt, state: 'Preparing', preparingAt: now, version: attempt.version + 1 }],
    leases: [{ ...lease, state: 'Held', expiresAt: now + lease.ttlMs, renewedAt: now, version: lease.version + 1 }],
    guards: [{ kind: 'lease-live', lease: lease.id }],
  };
  return changeStep(rows, withMessage(change, message), now, { code: 'Accepted' });
}

/** Preparing -> Running -> UploadingOutputs. */
export function phaseStep(rows: RunRows, { index, now, message }: OnJob): Step {
  const job = jobAt(rows, index);
  const attempt = currentAttempt(rows, index);
  const starts = job.state === 'Preparing';
  const columns = starts
    ? ({ state: 'Running', startedAt: now } as const)
    : ({ state: 'UploadingOutputs', uploadingAt: now } as const);
  const change: Change = {
    jobs: [{ ...job, ...columns, version: job.version + 1 }],
    attempts: [{ ...attempt, ...columns, version: attempt.version + 1 }],
    guards: [{ kind: 'lease-live', lease: attempt.leaseId }],
  };
  return changeStep(rows, withMessage(change, message), now, { code: starts ? 'WorkStarted' : 'WorkFinished' });
}

/** UploadingOutputs -> Succeeded; the run ends with its last job. */
export function completeStep(rows: RunRows, { index, now, message }: OnJob): Step {
  const job = jobAt(rows, index);
  const lease = currentLease(rows, index);
  const attempt = currentAttempt(rows, index);
  const isLast = rows.nodes.every((node) => node.index === index || node.finishedAt !== null);
  const outputs = [
    { path: 'out.txt', digest: id<JobRow['specDigest']>(`sha256:out-${job.id}`), bytes: 3, mode: 0o644 },
  ];
  const change: Change = {
    run: isLast ? { state: 'Succeeded', finishedAt: now, version: rows.run.version + 1 } : {},
    jobs: [endedJob(job, { state: 'Succeeded', executionSource: 'Executed', outputs, finishedAt: now })],
    attempts: [{ ...attempt, state: 'Succeeded', outputs, finishedAt: now, version: attempt.version + 1 }],
    leases: [{ ...lease, state: 'Released', finishedAt: now, version: lease.version + 1 }],
    guards: [{ kind: 'lease-live', lease: lease.id }],
  };
  return changeStep(rows, withMessage(change, message), now, { code: 'OutputsVerified' });
}

function endedJob(job: JobRow, columns: Partial<JobRow>): JobRow {
  return { ...job, ...columns, currentAttempt: null, currentLease: null, version: job.version + 1 };
}

/** Held and out of time -> Expired; the job becomes Lost. */
export function expireStep(
  rows: RunRows,
  { index, now, creditSequence }: OnJob & { readonly creditSequence: number },
): Step {
  const job = jobAt(rows, index);
  const lease = currentLease(rows, index);
  const attempt = currentAttempt(rows, index);
  const change: Change = {
    jobs: [endedJob(job, { state: 'Lost' })],
    attempts: [{ ...attempt, state: 'Lost', finishedAt: now, version: attempt.version + 1 }],
    leases: [{ ...lease, state: 'Expired', finishedAt: now, version: lease.version + 1 }],
    guards: [{ kind: 'lease-expired', lease: lease.id, creditSequence }],
  };
  return changeStep(rows, change, now, { code: 'LeaseExpired' });
}

/** The offer is declined: the job returns to the queue. */
export function rejectStep(rows: RunRows, { index, now }: OnJob): Step {
  const job = jobAt(rows, index);
  const lease = currentLease(rows, index);
  const attempt = currentAttempt(rows, index);
  const change: Change = {
    jobs: [
      endedJob(job, {
        state: 'Eligible',
        refusals: job.refusals + 1,
        refusedBy: [{ session: lease.session, at: now }],
      }),
    ],
    attempts: [{ ...attempt, state: 'Rejected', finishedAt: now, version: attempt.version + 1 }],
    leases: [{ ...lease, state: 'Rejected', finishedAt: now, version: lease.version + 1 }],
  };
  return changeStep(rows, change, now, { code: 'OfferRejected' });
}
