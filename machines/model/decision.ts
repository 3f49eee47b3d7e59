/** What `decide` answers: data, never an effect. */
import type { NoOpCode, RejectionCode } from './codes.ts';
import type { TimeoutPhase } from './commands.ts';
import type { Fact } from './facts.ts';
import type { AttemptId, JobId, LeaseId, SessionId, Timestamp } from './ids.ts';
import type { AttemptRow, GateRow, JobIntent, JobRow, LeaseRow, RunIntent, RunRow } from './rows.ts';

/** One durable deadline of a run. `key` is unique in the run; setting it again moves it. */
export interface Deadline {
  readonly key: string;
  readonly kind: TimerKind;
  readonly dueAt: Timestamp;
  /** The job, gate or run the deadline guards. */
  readonly entity: string;
  readonly attempt: AttemptId | null;
  readonly lease: LeaseId | null;
}
export type TimerKind = 'run-deadline' | 'queue' | 'retry' | 'offer' | 'lease' | TimeoutPhase | 'gate-expiry';

export interface TimerChanges {
  readonly set: readonly Deadline[];
  readonly cancel: readonly string[];
}

/** What the committing statement must still find true by its own clock, or the commit is a conflict. */
export type CommitGuard =
  | { readonly kind: 'lease-live'; readonly lease: LeaseId }
  | { readonly kind: 'lease-expired'; readonly lease: LeaseId; readonly creditSequence: number }
  | { readonly kind: 'session-active'; readonly session: SessionId };

/** New contents of every row the decision touched, and the facts that explain them. */
export interface Changes {
  readonly run: RunRow;
  readonly jobs: readonly JobRow[];
  readonly gates: readonly GateRow[];
  readonly attempts: readonly AttemptRow[];
  readonly leases: readonly LeaseRow[];
  readonly facts: readonly Fact[];
  readonly timers: TimerChanges;
  readonly guards: readonly CommitGuard[];
  /** Nodes still to be judged by a later command (a hint: reconcilers find them too). */
  readonly judge: readonly number[];
  /** Jobs that became Lost: their verdict is the next command. */
  readonly lost: readonly JobId[];
}

export type DirectiveValue =
  | { readonly kind: 'continue'; readonly expiresAt: Timestamp }
  | { readonly kind: 'cancel'; readonly intent: JobIntent; readonly expiresAt: Timestamp }
  | { readonly kind: 'stale' };

/** The reply kept in the receipt: small, JSON, the same whenever the message is repeated. */
export type Reply =
  | { readonly kind: 'run'; readonly state: RunRow['state']; readonly intent: RunIntent['kind'] | null }
  | { readonly kind: 'job'; readonly state: JobRow['state']; readonly intent: JobIntent['kind'] | null }
  | { readonly kind: 'gate'; readonly state: GateRow['state'] }
  | { readonly kind: 'directive'; readonly directive: DirectiveValue }
  | { readonly kind: 'none' };

export type Decision =
  | { readonly outcome: 'accepted'; readonly changes: Changes; readonly reply: Reply }
  | { readonly outcome: 'no-op'; readonly code: NoOpCode; readonly reply: Reply }
  /** `audit` holds facts about the refusal itself (a late result); no state changes with it. */
  | {
      readonly outcome: 'rejected';
      readonly code: RejectionCode;
      readonly detail: string;
      readonly audit: Changes | null;
    };
