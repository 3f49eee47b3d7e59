/**
 * Which durable deadlines a row asks for, and the command of each (000 §295-298, 003 §76). Timers are a function of
 * the rows, so a deadline can be neither forgotten by a transition nor left behind by one. Commits, the timer loop and
 * the reconcilers all ask here.
 */
import { leaseEndsAt } from '../authority.ts';
import type { TimerCommand } from '../model/commands.ts';
import type { Deadline } from '../model/decision.ts';
import type { AttemptId, GateId, JobId, LeaseId, Timestamp } from '../model/ids.ts';
import type { AttemptRow, GateRow, JobRow, LeaseRow, NodeRow, RunRow } from '../model/rows.ts';
import { isLeaseLive, isRunTerminal } from '../model/states.ts';
import type { RunView } from '../state/run-state.ts';

const plain = { attempt: null, lease: null } as const;

export function runDeadlines(run: RunRow): readonly Deadline[] {
  if (run.deadlineAt === null || run.intent !== null || isRunTerminal(run.state)) return [];
  return [{ key: 'run-deadline', kind: 'run-deadline', dueAt: run.deadlineAt, entity: run.id, ...plain }];
}

export function jobDeadlines(job: JobRow): readonly Deadline[] {
  if (job.state === 'Eligible' && job.queueDeadlineAt !== null) {
    return [{ key: `queue/${job.id}`, kind: 'queue', dueAt: job.queueDeadlineAt, entity: job.id, ...plain }];
  }
  if (job.state === 'RetryWaiting' && job.retryNotBefore !== null) {
    return [{ key: `retry/${job.id}`, kind: 'retry', dueAt: job.retryNotBefore, entity: job.id, ...plain }];
  }
  return [];
}

export function attemptDeadlines(attempt: AttemptRow): readonly Deadline[] {
  const due = (kind: 'preparation' | 'execution' | 'upload', at: number | null): readonly Deadline[] =>
    at === null
      ? []
      : [{ key: `${kind}/${attempt.id}`, kind, dueAt: at, entity: attempt.jobId, attempt: attempt.id, lease: null }];
  switch (attempt.state) {
    case 'Preparing':
      return [...due('preparation', attempt.preparationDeadlineAt), ...due('execution', attempt.executionDeadlineAt)];
    case 'Running':
      return due('execution', attempt.executionDeadlineAt);
    case 'UploadingOutputs':
      return due('upload', attempt.uploadDeadlineAt);
    default:
      return [];
  }
}

export function leaseDeadlines(lease: LeaseRow): readonly Deadline[] {
  if (!isLeaseLive(lease.state)) return [];
  const kind = lease.state === 'Offered' ? 'offer' : 'lease';
  return [
    {
      key: `lease/${lease.id}`,
      kind,
      dueAt: leaseEndsAt(lease),
      entity: lease.jobId,
      attempt: lease.attemptId,
      lease: lease.id,
    },
  ];
}

export function gateDeadlines(gate: GateRow): readonly Deadline[] {
  if (gate.state !== 'Pending' || gate.openedAt === null || gate.expiresAt === null) return [];
  return [{ key: `gate/${gate.id}`, kind: 'gate-expiry', dueAt: gate.expiresAt, entity: gate.id, ...plain }];
}

export const nodeDeadlines = (row: NodeRow): readonly Deadline[] =>
  row.kind === 'job' ? jobDeadlines(row) : gateDeadlines(row);

/** When a deadline is due by the rows as they are now; null when they ask for it no more. */
export function standingDueAt(view: RunView, { key, entity, attempt, lease }: Deadline): Timestamp | null {
  const node = view.findJob(entity as JobId) ?? view.findGate(entity as GateId);
  const attemptRow = attempt === null ? undefined : view.attempt(attempt);
  const leaseRow = lease === null ? undefined : view.lease(lease);
  const standing = [
    ...runDeadlines(view.run),
    ...(node === undefined ? [] : nodeDeadlines(view.node(node))),
    ...(attemptRow === undefined ? [] : attemptDeadlines(attemptRow)),
    ...(leaseRow === undefined ? [] : leaseDeadlines(leaseRow)),
  ];
  return standing.find((one) => one.key === key)?.dueAt ?? null;
}

/** What is asked when a deadline is due; the decision looks again whether it is. */
export function timerCommand(deadline: Deadline): TimerCommand {
  const job = deadline.entity as JobId;
  switch (deadline.kind) {
    case 'run-deadline':
      return { type: 'ReachRunDeadline' };
    case 'queue':
      return { type: 'ReachQueueTimeout', job };
    case 'retry':
      return { type: 'ReachRetryTime', job };
    case 'offer':
      return { type: 'ExpireOffer', job, lease: named(deadline.lease, deadline) };
    case 'lease':
      return { type: 'ExpireLease', job, lease: named(deadline.lease, deadline) };
    case 'preparation':
    case 'execution':
    case 'upload':
      return { type: 'ReachPhaseTimeout', job, attempt: named(deadline.attempt, deadline), phase: deadline.kind };
    case 'gate-expiry':
      return { type: 'ExpireGate', gate: deadline.entity as GateId };
  }
}

function named<Id extends AttemptId | LeaseId>(id: Id | null, deadline: Deadline): Id {
  if (id === null) throw new Error(`deadline ${deadline.key} does not name what it guards`);
  return id;
}
