/** What the memory store holds. Rows are immutable values; the containers around them are this store's own. */
import type {
  AttemptId,
  AttemptRow,
  Deadline,
  ExecutablePlan,
  GateId,
  JobId,
  JobState,
  LeaseId,
  LeaseRow,
  MessageId,
  NodeRow,
  RunId,
  RunRow,
  SessionId,
  SessionRow,
  Timestamp,
} from '../../machines/index.ts';
import type {
  AuditEntry,
  CacheEntry,
  Credit,
  Receipt,
  ReconcileProgress,
  StoreClock,
  StoredFact,
  StoreHook,
  TimerState,
} from '../contract.ts';
import type { DueHeap } from './due-heap.ts';
import { createDueHeap } from './due-heap.ts';
import type { EligibleQueue } from './eligible-queue.ts';
import { createEligibleQueue } from './eligible-queue.ts';

export interface MemoryTimer {
  readonly runId: RunId;
  readonly deadline: Deadline;
  readonly state: TimerState;
  readonly token: string | null;
  /** When it can be claimed; null once Fired or Cancelled. */
  readonly readyAt: Timestamp | null;
}

export interface MemoryBatch {
  readonly run: MemoryRun;
  readonly first: number;
  readonly last: number;
  readonly token: string | null;
  readonly readyAt: Timestamp;
  readonly attempts: number;
}

export interface MemoryRun {
  run: RunRow;
  readonly plan: ExecutablePlan;
  readonly nodes: NodeRow[];
  readonly jobIndex: Map<JobId, number>;
  readonly gateIndex: Map<GateId, number>;
  readonly jobsByState: Map<JobState, Set<number>>;
  readonly attempts: Map<AttemptId, AttemptRow>;
  readonly attemptsByJob: Map<JobId, AttemptId[]>;
  readonly leases: Map<LeaseId, LeaseRow>;
  readonly leasesByJob: Map<JobId, LeaseId[]>;
  readonly liveLeases: Set<LeaseId>;
  readonly facts: StoredFact[];
  /** Undelivered commits, oldest first, from `outboxHead` on. */
  readonly outbox: MemoryBatch[];
  outboxHead: number;
  readonly timers: Map<string, MemoryTimer>;
  readonly receipts: Map<MessageId, Receipt>;
  /** Made when somebody first asks for the eligible jobs of this run alone. */
  queue: EligibleQueue | null;
}

export interface MemoryState {
  readonly clock: StoreClock;
  readonly hook: StoreHook;
  readonly runs: Map<RunId, MemoryRun>;
  readonly activeRuns: Set<RunId>;
  /** Project and request id, as JSON. */
  readonly requests: Map<string, RunId>;
  readonly jobOwner: Map<JobId, MemoryRun>;
  readonly gateOwner: Map<GateId, MemoryRun>;
  readonly sessions: Map<SessionId, SessionRow>;
  readonly sessionLeases: Map<SessionId, Map<LeaseId, MemoryRun>>;
  readonly queue: EligibleQueue;
  readonly dueTimers: DueHeap<MemoryTimer>;
  readonly dueBatches: DueHeap<MemoryBatch>;
  readonly feed: StoredFact[];
  readonly audit: Map<AuditEntry['id'], AuditEntry>;
  readonly cache: Map<string, CacheEntry>;
  readonly progress: Map<string, ReconcileProgress>;
  readonly credits: Credit[];
  heartbeat: { readonly lastBeatAt: Timestamp; readonly gapMs: number } | null;
}

export function createMemoryState(clock: StoreClock, hook: StoreHook): MemoryState {
  const runs = new Map<RunId, MemoryRun>();
  return {
    clock,
    hook,
    runs,
    activeRuns: new Set(),
    requests: new Map(),
    jobOwner: new Map(),
    gateOwner: new Map(),
    sessions: new Map(),
    sessionLeases: new Map(),
    queue: createEligibleQueue(),
    dueTimers: createDueHeap(
      ({ at, item }) => item.readyAt === at && runs.get(item.runId)?.timers.get(item.deadline.key) === item,
    ),
    dueBatches: createDueHeap(({ item }) => item.run.outbox[item.run.outboxHead] === item),
    feed: [],
    audit: new Map(),
    cache: new Map(),
    progress: new Map(),
    credits: [],
    heartbeat: null,
  };
}

export const requestKey = (project: string, requestId: string): string => JSON.stringify([project, requestId]);

/** Whether a beat now would find a gap: nobody may be judged before the credit for it is there. */
export function hasHeartbeatGap(state: MemoryState, now: Timestamp): boolean {
  return state.heartbeat === null || now - state.heartbeat.lastBeatAt > state.heartbeat.gapMs;
}

/** The row set to `value` at `key`, creating the inner container on first use. */
export function inner<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

/** An entry that comes again (a retried service call) is the same entry. */
export function appendAudit(state: MemoryState, entry: AuditEntry): void {
  if (!state.audit.has(entry.id)) state.audit.set(entry.id, entry);
}
