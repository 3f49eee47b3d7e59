/**
 * What a reconciler finds wrong or overdue in the rows of a run, and the command that repairs it (000 §161-166,
 * 003 §63-66, §181-189). Pure: rows and a time in, issues out. A repair is an ordinary command, so it re-checks
 * everything and a second pass finds nothing.
 */
import {
  attemptDeadlines,
  gateDeadlines,
  jobDeadlines,
  leaseDeadlines,
  runDeadlines,
  timerCommand,
} from '../decide/deadlines.ts';
import { isUnneededGate } from '../decide/propagate.ts';
import { checkRun } from '../invariants.ts';
import type { Command } from '../model/commands.ts';
import type { Deadline, TimerKind } from '../model/decision.ts';
import type { SessionId, Timestamp } from '../model/ids.ts';
import type { GateRow, JobRow, LeaseRow } from '../model/rows.ts';
import { isAttemptTerminal, isJobActive, isLeaseLive, isRunTerminal } from '../model/states.ts';
import { isWaitingForVerdict, judgeNode } from '../policies/dependencies.ts';
import type { RunAggregate } from '../state/run-state.ts';
import { isEnded } from '../state/run-state.ts';

export const reconcileIssueCodes = {
  VerdictDue: 'A waiting node could already go on or be skipped.',
  GateNotNeeded: 'A gate waits although all its dependents have ended.',
  RunNotSettled: 'All nodes have ended and the run has not.',
  RunNotDrained: 'The run is cancelling and no job is held any more.',
  IntentNotApplied: 'The run has an intent and a node still waits.',
  LostUnresolved: 'A lost job has no verdict yet.',
  RetryOverdue: 'A retry delay has elapsed.',
  QueueTimeoutOverdue: 'A queue deadline has passed.',
  PhaseTimeoutOverdue: 'A deadline of a phase has passed.',
  OfferOverdue: 'An offer has expired.',
  LeaseOverdue: 'A lease has expired.',
  OfferToInactiveSession: 'An offer stands on a session that takes no work.',
  RunDeadlineOverdue: 'The run deadline has passed.',
  GateExpiryOverdue: 'A gate has expired.',
  InvariantViolation: 'Rows contradict each other; no rule repairs that.',
} as const;
export type ReconcileIssueCode = keyof typeof reconcileIssueCodes;
export type ReconcileSeverity = 'Info' | 'Warning' | 'Error' | 'Critical';

export interface ReconcileIssue {
  readonly code: ReconcileIssueCode;
  readonly severity: ReconcileSeverity;
  readonly entity: string;
  readonly detail: string;
  /** Null: RequireOperator. */
  readonly repair: Command | null;
}

export interface ReconcileFacts {
  readonly now: Timestamp;
  readonly isSessionActive: (session: SessionId) => boolean;
}

/** Every issue of one run; O(nodes + edges). */
export function reconcileRun(state: RunAggregate, facts: ReconcileFacts): readonly ReconcileIssue[] {
  if (isRunTerminal(state.run.state)) return damage(state);
  const issues = [...damage(state), ...runIssues(state, facts)];
  if (state.run.intent !== null) return issues;
  for (const row of state.nodes) {
    if (isEnded(row)) continue;
    issues.push(...(row.kind === 'job' ? jobIssues(state, row, facts) : gateIssues(state, row, facts)));
  }
  return issues;
}

function damage(state: RunAggregate): readonly ReconcileIssue[] {
  // These two are repaired by judging, the others by nobody but an operator.
  const repaired = new Set(['settledIsTerminal: run', 'intentLeavesNothingWaiting: run']);
  return checkRun(state, state.nodes)
    .filter((broken) => !repaired.has(broken))
    .map((broken) => ({
      code: 'InvariantViolation',
      severity: 'Critical',
      entity: state.run.id,
      detail: broken,
      repair: null,
    }));
}

function runIssues(state: RunAggregate, facts: ReconcileFacts): readonly ReconcileIssue[] {
  const { run } = state;
  const issue = (code: ReconcileIssueCode, repair: Command): ReconcileIssue => ({
    code,
    severity: 'Error',
    entity: run.id,
    detail: `run ${run.state}`,
    repair,
  });
  if (run.intent !== null) {
    const missed = state.nodes.filter(
      (row) =>
        !isEnded(row) &&
        !(row.kind === 'job' && isJobActive(row.state) && row.state !== 'Leased' && row.intent !== null),
    );
    const held = state.nodes.filter((row): row is JobRow => row.kind === 'job' && isJobActive(row.state));
    const overdue = held.flatMap((row) => activeIssues(state, row, facts));
    if (missed.length > 0)
      return [issue('IntentNotApplied', { type: 'JudgeNodes', nodes: missed.map((row) => row.index) }), ...overdue];
    return state.heldJobs === 0 ? [issue('RunNotDrained', { type: 'JudgeNodes', nodes: [] })] : overdue;
  }
  if (state.openNodes === 0) return [issue('RunNotSettled', { type: 'JudgeNodes', nodes: [] })];
  return overdue(runDeadlines(run), facts).map(({ code, repair }) => issue(code, repair));
}

const overdueCodes: { readonly [K in TimerKind]: ReconcileIssueCode } = {
  'run-deadline': 'RunDeadlineOverdue',
  queue: 'QueueTimeoutOverdue',
  retry: 'RetryOverdue',
  offer: 'OfferOverdue',
  lease: 'LeaseOverdue',
  preparation: 'PhaseTimeoutOverdue',
  execution: 'PhaseTimeoutOverdue',
  upload: 'PhaseTimeoutOverdue',
  'gate-expiry': 'GateExpiryOverdue',
};

interface Found {
  readonly code: ReconcileIssueCode;
  readonly repair: Command;
}

/** Deadlines whose timers should have fired. */
function overdue(deadlines: readonly Deadline[], facts: ReconcileFacts): readonly Found[] {
  return deadlines
    .filter(({ dueAt }) => dueAt <= facts.now)
    .map((deadline) => ({ code: overdueCodes[deadline.kind], repair: timerCommand(deadline) }));
}

function gateIssues(state: RunAggregate, gate: GateRow, facts: ReconcileFacts): readonly ReconcileIssue[] {
  const issue = (code: ReconcileIssueCode, repair: Command): ReconcileIssue => ({
    code,
    severity: 'Warning',
    entity: gate.id,
    detail: `gate ${gate.node} ${gate.state}`,
    repair,
  });
  if (isUnneededGate(state, gate.index)) return [issue('GateNotNeeded', { type: 'JudgeNodes', nodes: [gate.index] })];
  const expired = overdue(gateDeadlines(gate), facts);
  if (expired.length > 0) return expired.map(({ code, repair }) => issue(code, repair));
  return verdictDue(state, gate.index) ? [issue('VerdictDue', { type: 'JudgeNodes', nodes: [gate.index] })] : [];
}

const verdictDue = (state: RunAggregate, at: number): boolean =>
  isWaitingForVerdict(state.node(at)) && judgeNode(state, at).kind !== 'undecided';

function jobIssues(state: RunAggregate, job: JobRow, facts: ReconcileFacts): readonly ReconcileIssue[] {
  const issue = (code: ReconcileIssueCode, repair: Command): ReconcileIssue => ({
    code,
    severity: 'Warning',
    entity: job.id,
    detail: `job ${job.node} ${job.state}`,
    repair,
  });
  switch (job.state) {
    case 'Pending':
      return verdictDue(state, job.index) ? [issue('VerdictDue', { type: 'JudgeNodes', nodes: [job.index] })] : [];
    case 'Lost':
      return [issue('LostUnresolved', { type: 'ResolveLost', job: job.id })];
    case 'RetryWaiting':
    case 'Eligible':
      return overdue(jobDeadlines(job), facts).map(({ code, repair }) => issue(code, repair));
    default:
      return activeIssues(state, job, facts);
  }
}

function activeIssues(state: RunAggregate, job: JobRow, facts: ReconcileFacts): readonly ReconcileIssue[] {
  const lease = job.currentLease === null ? undefined : state.lease(job.currentLease);
  const attempt = job.currentAttempt === null ? undefined : state.attempt(job.currentAttempt);
  if (lease === undefined || attempt === undefined || !isLeaseLive(lease.state) || isAttemptTerminal(attempt.state))
    return [];
  // With an intent the phase's timeout has nothing left to say; the lease bounds the rest.
  const phase = job.intent === null ? overdue(attemptDeadlines(attempt), facts) : [];
  return [...leaseIssues(job, lease, facts), ...phase].map((found) => ({
    severity: 'Warning',
    entity: job.id,
    detail: `job ${job.node} ${job.state}`,
    ...found,
  }));
}

function leaseIssues(job: JobRow, lease: LeaseRow, facts: ReconcileFacts): readonly Found[] {
  const expired = overdue(leaseDeadlines(lease), facts);
  if (expired.length > 0 || lease.state !== 'Offered' || facts.isSessionActive(lease.session)) return expired;
  return [{ code: 'OfferToInactiveSession', repair: { type: 'RevokeLease', job: job.id, lease: lease.id } }];
}
