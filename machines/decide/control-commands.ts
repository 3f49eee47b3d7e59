/** Decisions on what the control plane does by itself: grants, cache hits, follow-ups, outage credit. */
import type { ControlCommand, SchedulerCommand } from '../model/commands.ts';
import type { Decision } from '../model/decision.ts';
import type { AttemptRow, JobRow, LeaseRow } from '../model/rows.ts';
import { isLeaseLive, isRunTerminal } from '../model/states.ts';
import { leaseTtlMs } from '../policies/connectivity.ts';
import { isQueuedBefore } from '../state/evolve.ts';
import type { Draft } from '../state/run-state.ts';
import { isEnded } from '../state/run-state.ts';
import { answerOf, reject } from './answers.ts';
import type { DecideContext } from './context.ts';
import { finish } from './finish.ts';
import { stepGate } from './gate-step.ts';
import { stepJob } from './job-step.ts';
import { applyRunIntent, isUnneededGate, judge, propagate } from './propagate.ts';
import { stepRun } from './run-step.ts';
import { conclude } from './timer-commands.ts';

export function decideSchedulerCommand(draft: Draft, context: DecideContext, command: SchedulerCommand): Decision {
  const index = draft.findJob(command.job);
  if (index === undefined || draft.node(index).kind !== 'job') return reject('UnknownEntity', `no job ${command.job}`);
  switch (command.type) {
    case 'GrantLease':
      return grant(draft, context, index, command);
    case 'ResolveCacheHit': {
      const evidence = { exit: null, outputs: command.outputs, reports: [], log: null };
      return conclude(
        draft,
        context,
        index,
        stepJob(draft, context, index, 'CacheHit', { source: 'CacheHit', evidence }),
        command.type,
        [],
      );
    }
    case 'RevokeLease': {
      if (draft.job(index).currentLease !== command.lease)
        return { outcome: 'no-op', code: 'AlreadyDone', reply: { kind: 'none' } };
      return conclude(draft, context, index, stepJob(draft, context, index, 'LeaseRevoked', {}), command.type, []);
    }
  }
}

function grant(
  draft: Draft,
  context: DecideContext,
  index: number,
  command: SchedulerCommand & { type: 'GrantLease' },
): Decision {
  const job = draft.job(index);
  if (!context.isSessionActive(command.session))
    return reject('SessionNotActive', `session ${command.session} takes no work`);
  const missing = job.capabilities.filter((one) => !command.capabilities.includes(one));
  if (missing.length > 0) return reject('CapabilitiesUnmet', `the session lacks ${missing.join(', ')}`);
  // A grant delivered twice must not bring an attempt that has ended back under its old identity (000 §376.3).
  if (draft.attempt(command.attempt) !== undefined || draft.lease(command.lease) !== undefined)
    return reject('InvalidCommand', 'the attempt or lease of this grant exists already');
  const opens = openingRows(draft, context, job, command);
  const answered = stepJob(draft, context, index, 'LeaseGranted', { opens });
  return conclude(draft, context, index, answered, command.type, [
    { kind: 'session-active', session: command.session },
  ]);
}

/** The rows a grant brings into being; the spec digest is bound here (000 §180, §286). */
function openingRows(
  draft: Draft,
  context: DecideContext,
  job: JobRow,
  command: SchedulerCommand & { type: 'GrantLease' },
) {
  const common = {
    runId: job.runId,
    jobId: job.id,
    jobIndex: job.index,
    runner: command.runner,
    session: command.session,
  } as const;
  const epoch = job.leaseEpoch + 1;
  const offerExpiresAt = context.now + context.limits.offerTtlMs;
  const attempt: AttemptRow = {
    ...common,
    id: command.attempt,
    number: job.attemptCount + 1,
    state: 'Leased',
    reason: { code: 'Granted' },
    capabilities: command.capabilities,
    specDigest: job.specDigest,
    leaseId: command.lease,
    epoch,
    leasedAt: context.now,
    preparingAt: null,
    startedAt: null,
    uploadingAt: null,
    finishedAt: null,
    preparationDeadlineAt: null,
    executionDeadlineAt: null,
    uploadDeadlineAt: null,
    exit: null,
    failureClass: null,
    failureDetail: null,
    outputs: [],
    reports: [],
    log: null,
    lateResult: false,
    version: 1,
  };
  const lease: LeaseRow = {
    ...common,
    id: command.lease,
    attemptId: command.attempt,
    epoch,
    state: 'Offered',
    reason: { code: 'Granted' },
    ttlMs: leaseTtlMs(draft.index.job(job.index).spec.connectivity, context.limits.leaseTtlMs),
    issuedAt: context.now,
    offerExpiresAt,
    expiresAt: offerExpiresAt,
    renewedAt: context.now,
    creditMs: 0,
    finishedAt: null,
    version: 1,
  };
  return { attempt, lease };
}

export function decideControlCommand(draft: Draft, context: DecideContext, command: ControlCommand): Decision {
  switch (command.type) {
    case 'JudgeNodes':
      return judgeNodes(draft, context, command.nodes);
    case 'ResolveLost': {
      const index = draft.findJob(command.job);
      if (index === undefined || draft.node(index).kind !== 'job')
        return reject('UnknownEntity', `no job ${command.job}`);
      if (draft.job(index).state !== 'Lost') return { outcome: 'no-op', code: 'NothingDue', reply: { kind: 'none' } };
      return conclude(draft, context, index, stepJob(draft, context, index, 'LostResolved', {}), command.type, []);
    }
    case 'CreditOutage':
      return creditOutage(draft, context, command);
  }
}

/** Judges nodes, cancels gates nobody needs, applies a standing intent that was missed, and settles. */
function judgeNodes(draft: Draft, context: DecideContext, nodes: readonly number[]): Decision {
  if (isRunTerminal(draft.run.state)) return { outcome: 'no-op', code: 'NothingDue', reply: { kind: 'none' } };
  const known = nodes.filter((at) => Number.isInteger(at) && at >= 0 && at < draft.index.plan.nodes.length);
  const ended: number[] = [];
  if (draft.run.intent !== null) applyRunIntent(draft, context, draft.run.intent.kind, known);
  else {
    for (const at of known) {
      // Nobody is asked for a verdict that nothing waits for, so this comes before the gate may open.
      if (isUnneededGate(draft, at)) {
        stepGate(draft, context, at, 'NotNeeded', { code: 'NotNeeded' });
        ended.push(at);
      } else if (judge(draft, context, at)) ended.push(at);
    }
  }
  const left = propagate(draft, context, ended);
  if (draft.facts.length === 0) return { outcome: 'no-op', code: 'NothingDue', reply: { kind: 'none' } };
  return { outcome: 'accepted', changes: finish(draft, [], left), reply: { kind: 'none' } };
}

/**
 * Gives back the time in which nobody could renew, to what was alive when the gap began (000 §272; state-machines:
 * Outage credit). Applying one credit twice is impossible: the run's `creditSequence` has moved with the first.
 */
function creditOutage(
  draft: Draft,
  context: DecideContext,
  command: ControlCommand & { type: 'CreditOutage' },
): Decision {
  if (!(command.gapMs >= 0 && Number.isSafeInteger(command.gapMs) && Number.isSafeInteger(command.gapStart)))
    return reject('InvalidCommand', 'an outage begins at a time and lasts whole milliseconds');
  if (command.credit <= draft.run.creditSequence)
    return { outcome: 'no-op', code: 'AlreadyDone', reply: { kind: 'none' } };
  const credited: LeaseRow[] = [];
  let queued = 0;
  for (const node of draft.index.plan.nodes) {
    const row = draft.node(node.index);
    if (row.kind !== 'job' || isEnded(row)) continue;
    if (isQueuedBefore(row, command.gapStart)) queued += 1;
    const lease = row.currentLease === null ? undefined : draft.lease(row.currentLease);
    if (lease !== undefined) credited.push(...creditedLease(lease, command));
  }
  if (credited.length === 0 && queued === 0) return { outcome: 'no-op', code: 'NothingDue', reply: { kind: 'none' } };
  const answered = stepRun(draft, context, 'OutageCredited', {
    reason: { code: 'ControlPlaneOutage' },
    credit: { sequence: command.credit, gapStart: command.gapStart, gapMs: command.gapMs, leases: credited.length },
  });
  if (answered.kind !== 'moved') return answerOf(answered, 'the run has ended', { kind: 'none' });
  for (const lease of credited) draft.putLease(lease);
  return { outcome: 'accepted', changes: finish(draft, [], []), reply: { kind: 'none' } };
}

/** At most one ttl a gap, at most two between renewals; nothing for what was dead already or came after. */
function creditedLease(
  lease: LeaseRow,
  gap: { readonly gapStart: number; readonly gapMs: number },
): readonly LeaseRow[] {
  const aliveThen = isLeaseLive(lease.state) && lease.renewedAt <= gap.gapStart && lease.expiresAt > gap.gapStart;
  const grantMs = Math.min(gap.gapMs, lease.ttlMs, 2 * lease.ttlMs - lease.creditMs);
  if (!aliveThen || grantMs <= 0) return [];
  const moved = { ...lease, expiresAt: lease.expiresAt + grantMs, creditMs: lease.creditMs + grantMs };
  return [lease.state === 'Offered' ? { ...moved, offerExpiresAt: lease.offerExpiresAt + grantMs } : moved];
}
