/**
 * What the actor runtime offers its hosts (000 §105-106): the services commands go through, the runner gateway,
 * and the feed of committed facts. Implementations: `runtime.ts` and its neighbours.
 */
import type {
  Digest,
  ExecutablePlan,
  GateId,
  JobId,
  MessageId,
  NoOpCode,
  OutputRef,
  ReconcileIssue,
  RejectionCode,
  Reply,
  RunId,
  SessionId,
} from '../machines/index.ts';
import type { RunnerReply, RunnerRequest } from '../runner/protocol/index.ts';
import type { Store, StoredFact } from '../store/index.ts';

export const permissions = [
  'run.create',
  'run.read',
  'run.cancel',
  'run.retry',
  'run.priority',
  'run.repair',
  'job.cancel',
  'job.skip',
  'gate.decide',
  'runner.connect',
  'system',
] as const;
export type Permission = (typeof permissions)[number];

/** Who asks. `id` is recorded with every fact it causes, e.g. `user:alice`, `runner:r1`, `system:timers`. */
export interface ActorRef {
  readonly id: string;
  readonly permissions: 'all' | ReadonlySet<Permission>;
}

/** The answer to a command: a value, never an exception (unless the store itself is out of reach). */
export type CommandResult =
  | { readonly outcome: 'accepted'; readonly reply: Reply }
  | { readonly outcome: 'no-op'; readonly code: NoOpCode; readonly reply: Reply }
  | { readonly outcome: 'rejected'; readonly code: RejectionCode; readonly detail: string };

export interface CommandOptions {
  readonly actor: ActorRef;
  /** Same id, same answer: give one when the request may be repeated. */
  readonly messageId?: MessageId;
  readonly message?: string | null;
}

export interface CreateRunRequest {
  readonly actor: ActorRef;
  readonly plan: ExecutablePlan;
  readonly planDigest: Digest;
  /** Idempotency key (000 §221); a fresh one is made when absent. */
  readonly requestId?: string;
  readonly tenant?: string;
  readonly rerunOf?: RunId;
}
export type CreateRunResult =
  | { readonly outcome: 'created'; readonly runId: RunId; readonly superseded: readonly RunId[] }
  /** The same request had already created this run. */
  | { readonly outcome: 'existing'; readonly runId: RunId }
  | { readonly outcome: 'rejected'; readonly code: RejectionCode; readonly detail: string };

export interface RunService {
  create(request: CreateRunRequest): Promise<CreateRunResult>;
  cancel(run: RunId, options: CommandOptions): Promise<CommandResult>;
  changePriority(run: RunId, priority: number, options: CommandOptions): Promise<CommandResult>;
  /** A rerun is a new run of the same plan, linked to the old one (000 §203). */
  retry(run: RunId, options: CommandOptions): Promise<CreateRunResult>;
  reconcile(run: RunId, options: CommandOptions & { readonly dryRun: boolean }): Promise<ReconcileReport>;
}

export interface JobService {
  cancel(run: RunId, job: JobId, options: CommandOptions): Promise<CommandResult>;
  /** Manual skip: audited, satisfies dependents. */
  skip(run: RunId, job: JobId, options: CommandOptions): Promise<CommandResult>;
  /** Judges a waiting job now (000 §106 mark_eligible). */
  markEligible(run: RunId, job: JobId, options: CommandOptions): Promise<CommandResult>;
}

export interface GateService {
  decide(run: RunId, gate: GateId, verdict: 'approve' | 'reject', options: CommandOptions): Promise<CommandResult>;
}

export interface ReconcileReport {
  readonly checked: number;
  readonly repaired: number;
  readonly deferred: number;
  readonly issues: readonly ReconcileIssue[];
}

/** Informational and never a fact (000 §117-118). */
export interface AttemptProgress {
  readonly runId: RunId;
  readonly jobId: JobId;
  readonly step: string | null;
  readonly fraction: number | null;
}

export interface RunnerGateway {
  /** One protocol request, one reply. Rejections are replies; only an unreachable store throws. */
  request(message: RunnerRequest): Promise<RunnerReply>;
  /** Doorbell: work may be waiting. A hint; polling alone is enough. */
  onWork(listener: () => void): () => void;
}

export interface FactFeed {
  /** Facts committed by this process, right after the commit. A hint for other processes' facts: poll the store. */
  onFacts(listener: (facts: readonly StoredFact[]) => void): () => void;
  onProgress(listener: (progress: AttemptProgress) => void): () => void;
}

/** Checks output bytes before a success is committed (000 §119, §338). */
export interface OutputVerifier {
  verify(
    refs: readonly OutputRef[],
  ): Promise<{ readonly missing: readonly Digest[]; readonly corrupt: readonly Digest[] }>;
}

export interface Runtime {
  readonly store: Store;
  readonly runs: RunService;
  readonly jobs: JobService;
  readonly gates: GateService;
  readonly gateway: RunnerGateway;
  readonly feed: FactFeed;
  /** Recovers (outage credit, dead hosts, active runs), then keeps timers, grants, outbox and reconcilers going. */
  start(): Promise<void>;
  /** Stops the loops and waits for what is in flight. */
  stop(): Promise<void>;
  /** Resolves when nothing that was asked of this runtime, or that it gave itself to do, is under way. */
  settled(): Promise<void>;
  /** One pass of everything periodic, for tests and one-shot commands. */
  tick(): Promise<void>;
  /** Proves a session's host dead: its offers are revoked, its leases expire at once. */
  closeSession(session: SessionId, reason: string): Promise<void>;
}
