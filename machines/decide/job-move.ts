/** The words between deciding a job's event and recording it. */
import type { JobEvent, JobInput } from '../charts/job.ts';
import type { NoOpCode, ReasonCode, RejectionCode } from '../model/codes.ts';
import type { Evidence } from '../model/commands.ts';
import type { FailureClass } from '../model/failure-class.ts';
import type { SessionId } from '../model/ids.ts';
import type { AttemptRow, FailureDetail, JobIntent, JobRow, LeaseRow, Reason } from '../model/rows.ts';

/** What a command brings to an event. */
export interface JobEventData {
  readonly due?: boolean;
  readonly requested?: JobIntent;
  readonly failureClass?: FailureClass;
  readonly transient?: boolean;
  readonly outputsVerified?: boolean;
  readonly evidence?: Evidence;
  readonly detail?: FailureDetail;
  /** LeaseGranted: the rows that come into being with it. */
  readonly opens?: { readonly attempt: AttemptRow; readonly lease: LeaseRow };
  readonly refusingSession?: SessionId | null;
  readonly skip?: { readonly reason: Reason; readonly satisfies: boolean };
  readonly source?: 'Executed' | 'CacheHit';
  /** Why, where the event alone does not say it. */
  readonly reason?: ReasonCode;
  readonly message?: string | null;
}

export type StepAnswer =
  | { readonly kind: 'moved' }
  | { readonly kind: 'no-op'; readonly code: NoOpCode }
  | { readonly kind: 'rejected'; readonly code: RejectionCode };

export interface JobMove {
  readonly index: number;
  readonly event: JobEvent;
  readonly data: JobEventData;
  readonly guard: JobInput;
  readonly job: { readonly row: JobRow; readonly target: string; readonly effects: readonly string[] };
  readonly attempt: { readonly row: AttemptRow; readonly target: string; readonly effects: readonly string[] } | null;
  readonly lease: { readonly row: LeaseRow; readonly target: string; readonly effects: readonly string[] } | null;
}
