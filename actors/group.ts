/** Commands of one run that are decided together and committed as one (architecture: group commit). */
import type {
  AttemptRow,
  Changes,
  CommitGuard,
  Deadline,
  DecideContext,
  EventId,
  GateRow,
  JobId,
  JobRow,
  LeaseRow,
  MessageId,
  RunAggregate,
} from '../machines/index.ts';
import { absorb, decide, isAttemptTerminal } from '../machines/index.ts';
import type { AuditEntry, Receipt, RunCommit, StoredFact, TimerClaim } from '../store/index.ts';
import type { CommandResult } from './api.ts';
import type { Waiting } from './envelope.ts';
import type { Ids } from './ports.ts';
import { storedFacts } from './stored-facts.ts';

export interface Answered {
  readonly waiting: Waiting;
  readonly result: CommandResult;
}

export interface Group {
  readonly answered: readonly Answered[];
  /** Null: nothing to write. */
  readonly commit: RunCommit | null;
  readonly facts: readonly StoredFact[];
  readonly judge: readonly number[];
  readonly lost: readonly JobId[];
}

/** Decides the commands one after the other on the aggregate, which moves ahead of the store until the commit. */
export function decideGroup(
  aggregate: RunAggregate,
  batch: readonly Waiting[],
  contextFor: (waiting: Waiting) => DecideContext,
  ids: Ids,
): Group {
  const collector = collect(aggregate, ids);
  const answered: Answered[] = [];
  const inBatch = new Map<MessageId, CommandResult>();
  for (const waiting of batch) {
    const { messageId } = waiting.envelope;
    const earlier = messageId === null ? undefined : inBatch.get(messageId);
    const result = earlier ?? decideOne(aggregate, waiting, contextFor(waiting), collector);
    if (result === null) continue;
    if (messageId !== null && result.outcome !== 'rejected') inBatch.set(messageId, result);
    answered.push({ waiting, result });
  }
  const group = collector.finish();
  // Only now: a second result of the same attempt, in the same group, must be known as late and not as a stranger's.
  aggregate.forget(group.commit?.attempts.filter((row) => isAttemptTerminal(row.state)).map((row) => row.id) ?? [], []);
  return { answered, ...group };
}

function absorbKeepingEnded(aggregate: RunAggregate, changes: Changes): void {
  absorb(aggregate, changes);
  for (const row of changes.attempts) aggregate.putAttempt(row);
}

/** Null when the decision broke an invariant: the sender is told, the others are not harmed. */
function decideOne(
  aggregate: RunAggregate,
  waiting: Waiting,
  context: DecideContext,
  collector: Collector,
): CommandResult | null {
  try {
    const decision = decide(aggregate, waiting.envelope.command, context);
    switch (decision.outcome) {
      case 'accepted':
        absorbKeepingEnded(aggregate, decision.changes);
        collector.add(waiting, decision.changes, context);
        collector.receipt(waiting, { outcome: 'accepted', code: null, reply: decision.reply, at: context.now });
        return { outcome: 'accepted', reply: decision.reply };
      case 'no-op':
        collector.receipt(waiting, { outcome: 'no-op', code: decision.code, reply: decision.reply, at: context.now });
        return decision;
      case 'rejected':
        if (decision.audit !== null) {
          absorbKeepingEnded(aggregate, decision.audit);
          collector.add(waiting, decision.audit, context);
        }
        return { outcome: 'rejected', code: decision.code, detail: decision.detail };
    }
  } catch (error) {
    waiting.reject(error);
    return null;
  }
}

interface Collector {
  add(waiting: Waiting, changes: Changes, context: DecideContext): void;
  receipt(waiting: Waiting, receipt: Omit<Receipt, 'messageId' | 'command'>): void;
  finish(): Omit<Group, 'answered'>;
}

/** Merges changes: the last content of a row counts, deadlines follow in order, guards hold at the transaction's start. */
function collect(aggregate: RunAggregate, ids: Ids): Collector {
  const expectedSequence = aggregate.sequence;
  const jobs = new Map<string, JobRow>();
  const gates = new Map<string, GateRow>();
  const attempts = new Map<string, AttemptRow>();
  const leases = new Map<string, LeaseRow>();
  const newLeases = new Set<string>();
  const set = new Map<string, Deadline>();
  const cancel = new Set<string>();
  const fired = new Map<string, TimerClaim>();
  const guards = new Map<string, CommitGuard>();
  const facts: StoredFact[] = [];
  const receipts: Receipt[] = [];
  const audit: AuditEntry[] = [];
  const judge = new Set<number>();
  const lost = new Set<JobId>();

  return {
    add(waiting, changes, context) {
      const { actor, correlationId, causationId, timer, audited } = waiting.envelope;
      const origin = { runId: changes.run.id, actor, correlationId, causationId };
      // Not by spreading: a commit may hold more facts than a call takes arguments.
      for (const fact of storedFacts(changes.facts, origin, ids)) facts.push(fact);
      for (const fact of changes.facts) if (fact.type === 'LeaseGranted') newLeases.add(fact.id);
      for (const row of changes.jobs) jobs.set(row.id, row);
      for (const row of changes.gates) gates.set(row.id, row);
      for (const row of changes.attempts) attempts.set(row.id, row);
      for (const row of changes.leases) leases.set(row.id, row);
      for (const key of changes.timers.cancel) {
        set.delete(key);
        cancel.add(key);
      }
      for (const deadline of changes.timers.set) {
        cancel.delete(deadline.key);
        set.set(deadline.key, deadline);
      }
      for (const guard of changes.guards) addGuard(guards, newLeases, guard);
      for (const at of changes.judge) judge.add(at);
      for (const job of changes.lost) lost.add(job);
      if (timer !== null) fired.set(timer.key, timer);
      if (audited !== null) audit.push(auditEntry(waiting, changes.run.id, context.now, ids));
    },
    receipt(waiting, receipt) {
      const { messageId, command } = waiting.envelope;
      if (messageId !== null) receipts.push({ messageId, command: command.type, ...receipt });
    },
    finish() {
      const still = [...cancel].filter((key) => !fired.has(key));
      const nothing = facts.length === 0 && receipts.length === 0;
      const commit: RunCommit | null = nothing
        ? null
        : {
            runId: aggregate.run.id,
            expectedSequence,
            create: null,
            run: aggregate.run,
            jobs: [...jobs.values()],
            gates: [...gates.values()],
            attempts: [...attempts.values()],
            leases: [...leases.values()],
            facts,
            timers: { set: [...set.values()], cancel: still, fired: [...fired.values()] },
            guards: [...guards.values()],
            receipts,
            audit,
          };
      return { commit, facts, judge: [...judge], lost: [...lost] };
    },
  };
}

/** A lease that this very group creates is not in the store yet: nothing to guard. */
function addGuard(guards: Map<string, CommitGuard>, newLeases: ReadonlySet<string>, guard: CommitGuard): void {
  switch (guard.kind) {
    case 'session-active':
      guards.set(`session/${guard.session}`, guard);
      break;
    case 'lease-live':
    case 'lease-expired':
      if (!newLeases.has(guard.lease)) guards.set(`lease/${guard.lease}`, guard);
      break;
  }
}

function auditEntry(waiting: Waiting, runId: AuditEntry['runId'], at: number, ids: Ids): AuditEntry {
  const { actor, audited } = waiting.envelope;
  return {
    id: ids.uuid() as EventId,
    at,
    actor,
    action: audited?.action ?? waiting.envelope.command.type,
    runId,
    entity: audited?.entity ?? runId ?? '',
    outcome: 'allowed',
    message: audited?.message ?? null,
  };
}
