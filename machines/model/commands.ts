/**
 * Commands: intent in the imperative (003 §12). Each addresses one run; `decide` answers accepted, no-op or
 * rejected. Runner messages carry their full authority (000 §290).
 */
import type { ReasonCode, RejectionCode } from './codes.ts';
import type { FailureClass } from './failure-class.ts';
import type { AttemptId, Digest, GateId, JobId, LeaseId, RunId, RunnerId, SessionId, Timestamp } from './ids.ts';
import type { FailureDetail, OutputRef, ProcessExit } from './rows.ts';

export interface Authority {
  readonly job: JobId;
  readonly attempt: AttemptId;
  readonly lease: LeaseId;
  readonly epoch: number;
  readonly runner: RunnerId;
  readonly session: SessionId;
  readonly specDigest: Digest;
}

/** What an attempt leaves behind besides its state. */
export interface Evidence {
  readonly exit: ProcessExit | null;
  readonly outputs: readonly OutputRef[];
  readonly reports: readonly OutputRef[];
  readonly log: string | null;
}

export type RunnerCommand =
  | { readonly type: 'AcceptLease'; readonly authority: Authority }
  | { readonly type: 'RejectLease'; readonly authority: Authority; readonly message: string | null }
  | { readonly type: 'StartWork'; readonly authority: Authority }
  | { readonly type: 'FinishWork'; readonly authority: Authority; readonly exit: ProcessExit }
  /** `outputsVerified` is the control plane's own check, made before this command (000 §338). */
  | {
      readonly type: 'CompleteAttempt';
      readonly authority: Authority;
      readonly evidence: Evidence;
      readonly outputsVerified: boolean;
    }
  | {
      readonly type: 'FailAttempt';
      readonly authority: Authority;
      readonly evidence: Evidence;
      readonly failureClass: FailureClass;
      readonly transient: boolean;
      readonly detail: FailureDetail;
    }
  | { readonly type: 'ConfirmTermination'; readonly authority: Authority; readonly evidence: Evidence };

export type TimeoutPhase = 'preparation' | 'execution' | 'upload';

/** Deadlines that came due; each one re-checks everything, so firing twice is harmless. */
export type TimerCommand =
  | { readonly type: 'ReachRunDeadline' }
  | { readonly type: 'ReachQueueTimeout'; readonly job: JobId }
  | {
      readonly type: 'ReachPhaseTimeout';
      readonly job: JobId;
      readonly attempt: AttemptId;
      readonly phase: TimeoutPhase;
    }
  | { readonly type: 'ReachRetryTime'; readonly job: JobId }
  | { readonly type: 'ExpireOffer'; readonly lease: LeaseId; readonly job: JobId }
  | { readonly type: 'ExpireLease'; readonly lease: LeaseId; readonly job: JobId }
  | { readonly type: 'ExpireGate'; readonly gate: GateId };

export type SchedulerCommand =
  | {
      readonly type: 'GrantLease';
      readonly job: JobId;
      readonly attempt: AttemptId;
      readonly lease: LeaseId;
      readonly runner: RunnerId;
      readonly session: SessionId;
      readonly capabilities: readonly string[];
    }
  | { readonly type: 'ResolveCacheHit'; readonly job: JobId; readonly outputs: readonly OutputRef[] }
  /** Takes back an offer (drain, closed session, daemon); Held leases are not revoked. */
  | { readonly type: 'RevokeLease'; readonly job: JobId; readonly lease: LeaseId };

export type OperatorCommand =
  | { readonly type: 'CancelRun'; readonly message: string | null }
  | { readonly type: 'SupersedeRun'; readonly by: RunId }
  | { readonly type: 'CancelJob'; readonly job: JobId; readonly message: string | null }
  | { readonly type: 'SkipJob'; readonly job: JobId; readonly message: string | null }
  | { readonly type: 'ChangePriority'; readonly priority: number }
  | {
      readonly type: 'DecideGate';
      readonly gate: GateId;
      readonly verdict: 'approve' | 'reject';
      readonly message: string | null;
    };

/** Work the control plane gives itself; also what reconcilers issue. */
export type ControlCommand =
  /** Judges waiting nodes whose verdict may be due, and settles or drains the run where that is due. */
  | { readonly type: 'JudgeNodes'; readonly nodes: readonly number[] }
  | { readonly type: 'ResolveLost'; readonly job: JobId }
  /** `gapStart`..`gapStart + gapMs` is when nobody could renew. */
  | { readonly type: 'CreditOutage'; readonly credit: number; readonly gapStart: Timestamp; readonly gapMs: number };

export type Command = RunnerCommand | TimerCommand | SchedulerCommand | OperatorCommand | ControlCommand;
export type CommandType = Command['type'];

export type ReplyCode = RejectionCode | ReasonCode;
