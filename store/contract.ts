/**
 * The store contract (000 §107-111, 003 §239-246). A store persists; it decides nothing but compare-and-set.
 *
 * Rules every implementation keeps, and `store/suite` checks:
 *  S1 `commit` is atomic per run: rows, facts, outbox, timers, receipts, audit, or nothing.
 *  S2 a commit applies only if the run's `sequence` is `expectedSequence` and every guard holds by the store's
 *     own clock inside the transaction; otherwise it is a conflict and changes nothing.
 *  S3 a message id has at most one receipt per run; a commit that brings a second one is `duplicate`.
 *  S4 unknown is an outcome: once the commit was sent, any error means unknown; `receipts` resolves it.
 *  S5 terminal rows never change (attempts.lateResult excepted); one live lease per job; (job, attempt number)
 *     and (job, epoch) are unique. Stated in SQL too, not only here.
 *  S6 facts of a run are numbered 1..n without a gap; reads return them in order.
 *  S7 a renewal is a compare-and-set on the lease row alone; it never touches the run's sequence. It never shortens
 *     a lease, and a commit that writes a Held lease over a Held one keeps the later `expiresAt`.
 */
import type {
  AttemptId,
  AttemptRow,
  CommitGuard,
  CorrelationId,
  Deadline,
  Digest,
  EventId,
  ExecutablePlan,
  Fact,
  GateRow,
  JobId,
  JobIntent,
  JobRow,
  JobState,
  LeaseId,
  LeaseRow,
  MessageId,
  NoOpCode,
  OutputRef,
  Reply,
  RunId,
  RunRow,
  RunState,
  SessionId,
  SessionRow,
  TimerKind,
  Timestamp,
} from '../machines/index.ts';

/** A fact in its envelope (003 §7). */
export interface StoredFact {
  readonly eventId: EventId;
  readonly schemaVersion: number;
  readonly runId: RunId;
  readonly sequence: number;
  readonly occurredAt: Timestamp;
  /** Who caused it: `user:…`, `runner:…`, `system:…`. */
  readonly actor: string;
  readonly correlationId: CorrelationId;
  readonly causationId: EventId | null;
  readonly fact: Fact;
}

/** What a message was answered with; only accepted and no-op messages have one. */
export interface Receipt {
  readonly messageId: MessageId;
  readonly command: string;
  readonly outcome: 'accepted' | 'no-op';
  /** Of a no-op. */
  readonly code: NoOpCode | null;
  readonly reply: Reply;
  readonly at: Timestamp;
}

/** A privileged or security-relevant action (000 §281). Never contains secrets. */
export interface AuditEntry {
  readonly id: EventId;
  readonly at: Timestamp;
  readonly actor: string;
  readonly action: string;
  readonly runId: RunId | null;
  readonly entity: string;
  readonly outcome: 'allowed' | 'denied';
  readonly message: string | null;
}

export interface NewRun {
  readonly planDigest: Digest;
  readonly plan: ExecutablePlan;
}

export interface RunCommit {
  readonly runId: RunId;
  /** 0 for the commit that creates the run (then `create` is set). */
  readonly expectedSequence: number;
  readonly create: NewRun | null;
  readonly run: RunRow;
  readonly jobs: readonly JobRow[];
  readonly gates: readonly GateRow[];
  readonly attempts: readonly AttemptRow[];
  readonly leases: readonly LeaseRow[];
  readonly facts: readonly StoredFact[];
  readonly timers: {
    readonly set: readonly Deadline[];
    readonly cancel: readonly string[];
    readonly fired: readonly TimerClaim[];
  };
  readonly guards: readonly CommitGuard[];
  readonly receipts: readonly Receipt[];
  readonly audit: readonly AuditEntry[];
}

export type CommitOutcome =
  | { readonly kind: 'committed' }
  /** Somebody else moved the run, or a guard no longer holds: reload and decide again. */
  | { readonly kind: 'conflict'; readonly why: 'sequence' | 'guard' }
  /** These messages already have receipts. */
  | { readonly kind: 'duplicate'; readonly messages: readonly MessageId[] }
  /** The request id is taken by another run of the project. */
  | { readonly kind: 'exists'; readonly runId: RunId }
  | { readonly kind: 'unknown'; readonly cause: unknown }
  /** Nothing was changed: the rows break an invariant (a bug), or the database refused this one commit. */
  | { readonly kind: 'failed'; readonly cause: unknown };

export interface LoadedRun {
  readonly run: RunRow;
  readonly plan: ExecutablePlan;
  /** All nodes, in plan order. */
  readonly nodes: readonly (JobRow | GateRow)[];
  /** Current attempts of active jobs. */
  readonly attempts: readonly AttemptRow[];
  /** Offered and Held leases. */
  readonly leases: readonly LeaseRow[];
}

export interface Renewal {
  readonly runId: RunId;
  readonly jobId: JobId;
  readonly lease: LeaseId;
  readonly attempt: AttemptId;
  readonly epoch: number;
  readonly session: SessionId;
}
/**
 * A renewal sets `expiresAt` to the store's now plus the lease's own `ttlMs`, never past the job's `terminateBy`.
 * It answers with the job's intent read in the same statement, so that an intent set by any process reaches the
 * runner with its next heartbeat.
 */
export type RenewalOutcome =
  | { readonly kind: 'renewed'; readonly expiresAt: Timestamp; readonly intent: JobIntent | null }
  | { readonly kind: 'expired' }
  /** Not Held, not the job's current lease, or another attempt, epoch or session. */
  | { readonly kind: 'stale' };

export interface EligibleJob {
  readonly runId: RunId;
  readonly jobId: JobId;
  readonly node: string;
  readonly priority: number;
  readonly eligibleAt: Timestamp;
  readonly capabilities: readonly string[];
  readonly refusedBy: JobRow['refusedBy'];
  readonly cacheKey: string | null;
}

/** Proof of a timer or outbox claim; settles only what it claimed. */
export interface TimerClaim {
  readonly key: string;
  readonly token: string;
}
export interface ClaimedTimer {
  readonly runId: RunId;
  readonly token: string;
  readonly deadline: Deadline;
}
export type TimerState = 'Pending' | 'Claimed' | 'Fired' | 'Cancelled';
export interface TimerRow {
  readonly runId: RunId;
  readonly key: string;
  readonly kind: TimerKind;
  readonly dueAt: Timestamp;
  readonly state: TimerState;
}

/** One outbox row stands for one commit: the facts `first`..`last` of a run. */
export interface OutboxBatch {
  readonly runId: RunId;
  readonly first: number;
  readonly last: number;
  readonly token: string;
  readonly attempts: number;
  readonly facts: readonly StoredFact[];
}

/** Position in the feed of all facts; opaque, ordered within one store. */
export type FeedPosition = number;

export interface RunFilter {
  readonly project?: string;
  readonly states?: readonly RunState[];
  readonly concurrencyGroup?: string;
  readonly idPrefix?: string;
}
export interface Page<T, C = string> {
  readonly items: readonly T[];
  /** Null: nothing after this page. */
  readonly next: C | null;
}
export interface RunCounts {
  readonly jobs: number;
  readonly byState: Partial<Record<JobState, number>>;
}

/** The one heartbeat row of the control plane (state-machines: Outage credit). */
export interface Credit {
  readonly sequence: number;
  readonly gapStart: Timestamp;
  readonly gapMs: number;
}

export interface CacheEntry {
  readonly project: string;
  readonly key: string;
  readonly specDigest: Digest;
  readonly outputs: readonly OutputRef[];
  readonly runId: RunId;
  readonly jobId: JobId;
  readonly createdAt: Timestamp;
}

/** What a reconciler looks for; every kind is served by an index (003 §94). */
export type ScanKind = 'active-runs' | 'lost-jobs' | 'live-leases' | 'due-retries';
export interface ScanItem {
  readonly runId: RunId;
  readonly entity: string;
}
export interface ReconcileProgress {
  readonly id: string;
  readonly cursor: string | null;
  readonly startedAt: Timestamp;
  readonly completedAt: Timestamp | null;
  readonly lastError: string | null;
}

export interface StoreCheck {
  /** Empty when the store is sound. */
  readonly problems: readonly { readonly code: string; readonly entity: string; readonly message: string }[];
  readonly runs: number;
  readonly facts: number;
}

export interface Store {
  /** Name of the implementation, for messages. */
  readonly kind: 'memory' | 'sqlite' | 'postgres' | 'stoolap';
  /** The one clock that decides, ms since the epoch. */
  now(): Timestamp;

  // --- runs -----------------------------------------------------------------------------------------------------
  load(runId: RunId): Promise<LoadedRun | null>;
  /** The run's last sequence, or null where there is no such run: tells an actor whether its memory is current. */
  sequence(runId: RunId): Promise<number | null>;
  /**
   * Outcomes in the order of the commits. One bad commit never sinks the others. Throws only when nothing of any
   * of them was applied (`StoreUnavailable`, or what a hook threw).
   * Within a run's timers the order is: fired, cancel, set; so a commit may fire a timer and set it anew.
   * `lease-expired` also needs a fresh heartbeat (no older than its `gapMs`) and the newest credit.
   */
  commit(commits: readonly RunCommit[]): Promise<readonly CommitOutcome[]>;
  receipts(runId: RunId, messages: readonly MessageId[]): Promise<readonly Receipt[]>;
  findRunByRequest(project: string, requestId: string): Promise<RunRow | null>;
  attempts(
    runId: RunId,
    filter: { readonly job?: JobId; readonly ids?: readonly AttemptId[] },
  ): Promise<readonly AttemptRow[]>;
  /** Ended ones come only when a job is named or `live` is false; `live: true` leaves them out in any case. */
  leases(runId: RunId, filter: { readonly job?: JobId; readonly live?: boolean }): Promise<readonly LeaseRow[]>;

  // --- leases and sessions --------------------------------------------------------------------------------------
  renew(renewals: readonly Renewal[]): Promise<readonly RenewalOutcome[]>;
  /**
   * Inserts the session and marks older Active or Draining ones of the same runner Replaced, in one commit.
   * A session that is already there stays as it is.
   */
  openSession(session: SessionRow): Promise<{ readonly replaced: readonly SessionId[] }>;
  /** Compare-and-set on `version` = session.version - 1. Closed: its Held leases get `expiresAt = now`. */
  updateSession(session: SessionRow): Promise<'committed' | 'conflict'>;
  /** Sets `lastSeenAt` of a live session; not a version. */
  touchSession(session: SessionId): Promise<void>;
  session(id: SessionId): Promise<SessionRow | null>;
  /** `live`: Active and Draining only; otherwise all. */
  sessions(filter: { readonly live: boolean }): Promise<readonly SessionRow[]>;
  /** Live leases bound to a session, in any run. */
  sessionLeases(session: SessionId): Promise<readonly LeaseRow[]>;

  // --- claims ---------------------------------------------------------------------------------------------------
  /** Candidates without locks: highest priority, then oldest, only those whose capabilities are a subset. */
  eligible(query: {
    readonly capabilities: readonly string[];
    readonly limit: number;
    readonly runId?: RunId;
  }): Promise<readonly EligibleJob[]>;
  /** Due timers (and those whose claim ran out), oldest first; each is claimed for `claimMs` under a fresh token. */
  claimTimers(query: {
    readonly limit: number;
    readonly claimMs: number;
    readonly token: string;
  }): Promise<readonly ClaimedTimer[]>;
  /** Settles claims without a run commit: `rearmAt` null = Fired. Foreign tokens change nothing. */
  settleTimers(
    settlements: readonly {
      readonly runId: RunId;
      readonly key: string;
      readonly token: string;
      readonly rearmAt: Timestamp | null;
    }[],
  ): Promise<void>;
  /** When the earliest timer can be claimed (Pending: due; Claimed: its claim runs out), or null: lets a wheel sleep. */
  nextTimerAt(): Promise<Timestamp | null>;
  timers(runId: RunId): Promise<readonly TimerRow[]>;
  /** A run's batch n+1 is never claimed while n is unsettled. `attempts` counts the claims, this one included. */
  claimOutbox(query: {
    readonly limit: number;
    readonly claimMs: number;
    readonly token: string;
  }): Promise<readonly OutboxBatch[]>;
  settleOutbox(
    settlements: readonly {
      readonly runId: RunId;
      readonly first: number;
      readonly token: string;
      readonly retryAt: Timestamp | null;
    }[],
  ): Promise<void>;

  // --- reads ----------------------------------------------------------------------------------------------------
  facts(runId: RunId, query: { readonly after: number; readonly limit: number }): Promise<readonly StoredFact[]>;
  /** `next` is the position of the last item; null when the page is empty (ask again from the same place). */
  feed(query: { readonly after: FeedPosition; readonly limit: number }): Promise<Page<StoredFact, FeedPosition>>;
  /** Newest first. */
  runs(filter: RunFilter, page: { readonly limit: number; readonly cursor: string | null }): Promise<Page<RunRow>>;
  counts(runIds: readonly RunId[]): Promise<ReadonlyMap<RunId, RunCounts>>;
  /** Finds jobs by id prefix over all runs (for people), newest first. */
  findJobs(query: { readonly idPrefix: string; readonly limit: number }): Promise<readonly JobRow[]>;
  findGates(query: { readonly idPrefix: string; readonly limit: number }): Promise<readonly GateRow[]>;
  auditLog(query: { readonly runId?: RunId; readonly limit: number }): Promise<readonly AuditEntry[]>;
  appendAudit(entry: AuditEntry): Promise<void>;

  // --- repair and operations ------------------------------------------------------------------------------------
  /**
   * Beats the heartbeat row. When the last beat is older than `gapMs` (or beat never), one caller appends a
   * credit for the gap; everybody gets the newest credit sequence, and the time of this beat. The credit of the very
   * first beat has `gapMs` 0.
   */
  heartbeat(query: {
    readonly gapMs: number;
  }): Promise<{ readonly creditSequence: number; readonly lastBeatAt: Timestamp }>;
  credits(after: number): Promise<readonly Credit[]>;
  scan(query: {
    readonly kind: ScanKind;
    readonly cursor: string | null;
    readonly limit: number;
  }): Promise<Page<ScanItem>>;
  reconcileProgress(id: string): Promise<ReconcileProgress | null>;
  saveReconcileProgress(progress: ReconcileProgress): Promise<void>;
  cacheLookup(key: {
    readonly project: string;
    readonly key: string;
    readonly specDigest: Digest;
  }): Promise<CacheEntry | null>;
  cachePut(entry: CacheEntry): Promise<void>;
  cacheInvalidate(key: { readonly project: string; readonly key: string; readonly specDigest: Digest }): Promise<void>;
  /** Every digest that a row refers to, for garbage collection of outputs. */
  referencedDigests(): AsyncIterable<Digest>;
  /** Integrity of the file or server, and the invariants across rows. */
  check(): Promise<StoreCheck>;
  close(): Promise<void>;
}

/** The clock a store is given; the only time it knows. */
export interface StoreClock {
  now(): Timestamp;
}

/** The database did not take part: locked for too long, full, or broken. Nothing was changed. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/** Named points where tests stop, delay or fail a store; a no-op in production. */
export type StoreFailpoint =
  | 'commit:before-send'
  | 'commit:between-statements'
  | 'commit:before-commit'
  | 'commit:after-commit';
export type StoreHook = (point: StoreFailpoint) => void;
