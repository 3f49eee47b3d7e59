/**
 * Facts: what a commit did, in the past tense, the unit of history (000 §98-102, 003 §11).
 *
 *  F1 a fact is appended if and only if a state or an intent changed, or it is an audit fact.
 *  F2 a fact carries from, to, reason, the row's new version, and the columns it changed (`set`);
 *     `evolve` needs nothing else.
 *  F3 facts of a run are numbered without gaps; the number is the run's `sequence`.
 *  F4 a fact holds no secret and no unbounded text.
 */
import type { AttemptId, JobId, LeaseId, Timestamp } from './ids.ts';
import type { AttemptRow, GateRow, JobRow, LeaseRow, Reason, RunRow } from './rows.ts';
import type { AttemptState, GateState, JobState, LeaseState, RunState } from './states.ts';

export const runFactTypes = [
  'RunCreated',
  'RunStarted',
  'RunCancelling',
  'RunSucceeded',
  'RunFailed',
  'RunCancelled',
  'RunTimedOut',
  'RunSuperseded',
  'RunPriorityChanged',
  'OutageCreditGranted',
] as const;
export const jobFactTypes = [
  'JobEligible',
  'JobLeased',
  'JobPreparing',
  'JobStarted',
  'JobUploadingOutputs',
  'JobSucceeded',
  'JobFailed',
  'JobCancelled',
  'JobTimedOut',
  'JobLost',
  'JobSkipped',
  'JobRetryScheduled',
  'JobReturnedToQueue',
  'JobTerminationRequested',
] as const;
export const attemptFactTypes = ['AttemptCreated', 'AttemptEnded', 'LateAttemptResultRejected'] as const;
export const leaseFactTypes = [
  'LeaseGranted',
  'LeaseAccepted',
  'LeaseRejected',
  'LeaseExpired',
  'LeaseRevoked',
  'LeaseReleased',
] as const;
export const gateFactTypes = ['GateOpened', 'GateSatisfied', 'GateRejected', 'GateCancelled'] as const;
export const factTypes = [
  ...runFactTypes,
  ...jobFactTypes,
  ...attemptFactTypes,
  ...leaseFactTypes,
  ...gateFactTypes,
] as const;

export type RunFactType = (typeof runFactTypes)[number];
export type JobFactType = (typeof jobFactTypes)[number];
export type AttemptFactType = (typeof attemptFactTypes)[number];
export type LeaseFactType = (typeof leaseFactTypes)[number];
export type GateFactType = (typeof gateFactTypes)[number];
export type FactType = (typeof factTypes)[number];

interface FactBase {
  /** Per-run number, from 1 (000 §302). */
  readonly sequence: number;
  /** Store time of the commit; all facts of one commit share it. */
  readonly at: Timestamp;
  readonly reason: Reason;
  /** The row's version after this fact. */
  readonly version: number;
}

export interface RunFact extends FactBase {
  readonly entity: 'run';
  readonly type: RunFactType;
  readonly from: RunState | null;
  readonly to: RunState;
  readonly set: Partial<RunRow>;
  /** OutageCreditGranted only: what moved. */
  readonly credit?: { readonly gapStart: Timestamp; readonly gapMs: number; readonly leases: number };
}

export interface JobFact extends FactBase {
  readonly entity: 'job';
  readonly type: JobFactType;
  readonly id: JobId;
  readonly index: number;
  readonly from: JobState;
  readonly to: JobState;
  readonly set: Partial<JobRow>;
  /** JobPreparing, JobStarted, JobUploadingOutputs: the attempt whose phase moved with it, and its columns. */
  readonly attempt?: {
    readonly id: AttemptId;
    readonly from: AttemptState;
    readonly to: AttemptState;
    readonly set: Partial<AttemptRow>;
  };
}

export interface AttemptFact extends FactBase {
  readonly entity: 'attempt';
  readonly type: AttemptFactType;
  readonly id: AttemptId;
  readonly index: number;
  readonly from: AttemptState | null;
  readonly to: AttemptState;
  /** AttemptCreated: the whole row. */
  readonly set: Partial<AttemptRow>;
  /** AttemptEnded: how much evidence the row holds. */
  readonly evidence?: { readonly outputs: number; readonly outputBytes: number; readonly reports: number };
}

export interface LeaseFact extends FactBase {
  readonly entity: 'lease';
  readonly type: LeaseFactType;
  readonly id: LeaseId;
  readonly index: number;
  readonly from: LeaseState | null;
  readonly to: LeaseState;
  /** LeaseGranted: the whole row. */
  readonly set: Partial<LeaseRow>;
}

export interface GateFact extends FactBase {
  readonly entity: 'gate';
  readonly type: GateFactType;
  readonly index: number;
  readonly id: GateRow['id'];
  readonly from: GateState;
  readonly to: GateState;
  readonly set: Partial<GateRow>;
}

export type Fact = RunFact | JobFact | AttemptFact | LeaseFact | GateFact;
