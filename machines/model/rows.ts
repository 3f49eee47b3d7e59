/**
 * The rows of one run: what stores persist and decisions read (000 §224-228, §266).
 *
 * Invariants are in `../invariants.ts`. `version` counts the facts that changed the row; `sequence` of the
 * run row is the number of the run's last fact and fences every commit (compare-and-set).
 * Columns that are not folded from facts are named in `unfoldedColumns` below.
 */

import type { FailureImpact, SourceSnapshot } from '../plan/plan.ts';
import type { ReasonCode } from './codes.ts';
import type { FailureClass } from './failure-class.ts';
import type {
  AttemptId,
  Digest,
  GateId,
  JobId,
  LeaseId,
  NodeName,
  RunId,
  RunnerId,
  SessionId,
  Timestamp,
} from './ids.ts';
import type { AttemptState, GateState, JobState, LeaseState, RunState, SessionState } from './states.ts';

export interface Reason {
  readonly code: ReasonCode;
  /** The node that is the root of an Upstream* or Policy reason. */
  readonly root?: NodeName;
  /** At most `limits.reasonMessageCharsMax` characters, for people. */
  readonly message?: string;
}

export type RunIntentKind = 'Cancelled' | 'TimedOut' | 'Superseded';
/** Why the run is stopping (000 §233); the first one persisted stands. */
export interface RunIntent {
  readonly kind: RunIntentKind;
  readonly requestedAt: Timestamp;
  readonly supersededBy: RunId | null;
}

export type JobIntentKind = 'TimedOut' | 'Cancelled' | 'Superseded' | 'FailFast';
/** Why an active job is being stopped (000 §235-237). */
export interface JobIntent {
  readonly kind: JobIntentKind;
  readonly reason: ReasonCode;
}

export interface RunRow {
  readonly id: RunId;
  readonly project: string;
  readonly tenant: string;
  readonly name: string;
  readonly planDigest: Digest;
  readonly source: SourceSnapshot;
  readonly createdBy: string;
  readonly requestId: string;
  readonly rerunOf: RunId | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly concurrencyGroup: string | null;
  readonly state: RunState;
  readonly intent: RunIntent | null;
  readonly reason: Reason | null;
  readonly createdAt: Timestamp;
  readonly startedAt: Timestamp | null;
  readonly finishedAt: Timestamp | null;
  readonly deadlineAt: Timestamp | null;
  /** The last outage credit applied to this run (state-machines: Outage credit). */
  readonly creditSequence: number;
  readonly version: number;
  readonly sequence: number;
}

export interface OutputRef {
  /** Relative to the workspace, `/`-separated. */
  readonly path: string;
  readonly digest: Digest;
  readonly bytes: number;
  /** Permission bits, e.g. 0o644. */
  readonly mode: number;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface FailureDetail {
  readonly step: string | null;
  readonly stepIndex: number | null;
  readonly message: string | null;
}

/** A session that declined this job, so that another one gets the chance. */
export interface Refusal {
  readonly session: SessionId;
  readonly at: Timestamp;
}

export interface JobRow {
  readonly kind: 'job';
  readonly id: JobId;
  readonly runId: RunId;
  /** Place in the plan. */
  readonly index: number;
  readonly node: NodeName;
  readonly specDigest: Digest;
  readonly required: boolean;
  readonly failureImpact: FailureImpact;
  readonly matrixGroup: string | null;
  readonly capabilities: readonly string[];
  readonly state: JobState;
  readonly intent: JobIntent | null;
  readonly terminateBy: Timestamp | null;
  readonly reason: Reason | null;
  /** Of Failed and TimedOut, and of the last attempt while retrying. */
  readonly failureClass: FailureClass | null;
  /** Number of the newest attempt; 0 = none yet. */
  readonly attemptCount: number;
  /** Epoch of the newest lease; 0 = none yet. */
  readonly leaseEpoch: number;
  /** Set while active (state invariants J1, J2). */
  readonly currentAttempt: AttemptId | null;
  readonly currentLease: LeaseId | null;
  readonly workloadFailures: number;
  readonly infrastructureFailures: number;
  /** Refusals in a row; accept and the charge reset it. */
  readonly refusals: number;
  readonly refusedBy: readonly Refusal[];
  readonly retryNotBefore: Timestamp | null;
  readonly queueDeadlineAt: Timestamp | null;
  readonly executionSource: 'Executed' | 'CacheHit' | null;
  /** Skipped only: whether the skip satisfies dependents and the run (000 §157). */
  readonly satisfies: boolean | null;
  /** Committed outputs of a Succeeded job (evidence, not folded). */
  readonly outputs: readonly OutputRef[];
  readonly eligibleAt: Timestamp | null;
  readonly leasedAt: Timestamp | null;
  readonly preparingAt: Timestamp | null;
  readonly startedAt: Timestamp | null;
  readonly uploadingAt: Timestamp | null;
  readonly finishedAt: Timestamp | null;
  readonly version: number;
}

export interface GateRow {
  readonly kind: 'gate';
  readonly id: GateId;
  readonly runId: RunId;
  readonly index: number;
  readonly node: NodeName;
  readonly state: GateState;
  readonly reason: Reason | null;
  readonly openedAt: Timestamp | null;
  readonly expiresAt: Timestamp | null;
  readonly decidedBy: string | null;
  readonly finishedAt: Timestamp | null;
  readonly version: number;
}

export type NodeRow = JobRow | GateRow;

export interface AttemptRow {
  readonly id: AttemptId;
  readonly runId: RunId;
  readonly jobId: JobId;
  readonly jobIndex: number;
  readonly number: number;
  readonly state: AttemptState;
  readonly reason: Reason | null;
  readonly runner: RunnerId;
  readonly session: SessionId;
  readonly capabilities: readonly string[];
  readonly specDigest: Digest;
  readonly leaseId: LeaseId;
  readonly epoch: number;
  readonly leasedAt: Timestamp;
  readonly preparingAt: Timestamp | null;
  readonly startedAt: Timestamp | null;
  readonly uploadingAt: Timestamp | null;
  readonly finishedAt: Timestamp | null;
  readonly preparationDeadlineAt: Timestamp | null;
  readonly executionDeadlineAt: Timestamp | null;
  readonly uploadDeadlineAt: Timestamp | null;
  readonly exit: ProcessExit | null;
  readonly failureClass: FailureClass | null;
  readonly failureDetail: FailureDetail | null;
  readonly outputs: readonly OutputRef[];
  readonly reports: readonly OutputRef[];
  readonly log: string | null;
  /** True once a result came after authority was lost; the only column that may change after the end (000 §32). */
  readonly lateResult: boolean;
  readonly version: number;
}

export interface LeaseRow {
  readonly id: LeaseId;
  readonly runId: RunId;
  readonly jobId: JobId;
  readonly jobIndex: number;
  readonly attemptId: AttemptId;
  readonly runner: RunnerId;
  readonly session: SessionId;
  readonly epoch: number;
  readonly state: LeaseState;
  readonly reason: Reason | null;
  /** Time to live of one renewal, connectivity extra included. */
  readonly ttlMs: number;
  readonly issuedAt: Timestamp;
  readonly offerExpiresAt: Timestamp;
  /** While Offered equal to `offerExpiresAt`; moved by renewals and credit without a fact. */
  readonly expiresAt: Timestamp;
  /** When `expiresAt` was last promised to the runner. */
  readonly renewedAt: Timestamp;
  /** Outage credit since the last renewal; at most two ttl. */
  readonly creditMs: number;
  readonly finishedAt: Timestamp | null;
  readonly version: number;
}

/** One life of an agent. Not part of any run: sessions have rows of their own. */
export interface SessionRow {
  readonly id: SessionId;
  readonly runner: RunnerId;
  readonly name: string;
  /** Identity of the process the agent lives in, so that its death can be proven; null where it lives elsewhere. */
  readonly host: string | null;
  readonly capabilities: readonly string[];
  readonly slots: number;
  readonly state: SessionState;
  readonly reason: string | null;
  readonly openedAt: Timestamp;
  readonly lastSeenAt: Timestamp;
  readonly endedAt: Timestamp | null;
  readonly version: number;
}

/**
 * Columns that folding the facts does not give: promises renewed without a fact, and evidence too large
 * for a fact (facts carry counts).
 */
export const unfoldedColumns = {
  job: ['outputs'],
  attempt: ['outputs', 'reports', 'log'],
  lease: ['expiresAt', 'renewedAt', 'creditMs', 'offerExpiresAt'],
} as const;
