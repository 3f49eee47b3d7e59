/**
 * Which durable deadlines a row asks for (000 §295-298, 003 §76). Timers are a function of the rows, so a
 * deadline can be neither forgotten by a transition nor left behind by one, and reconcilers use the same function.
 */
import { leaseEndsAt } from '../authority.ts';
import type { Deadline } from '../model/decision.ts';
import type { AttemptRow, GateRow, JobRow, LeaseRow, RunRow } from '../model/rows.ts';
import { isLeaseLive, isRunTerminal } from '../model/states.ts';

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
