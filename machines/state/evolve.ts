/**
 * Folds facts into rows: the only way a decision changes state, and how a history is replayed (F2).
 * Refuses a fact that does not follow from the row it meets, so a torn history is found where it tears.
 */
import type { AttemptFact, Fact, GateFact, JobFact, LeaseFact, RunFact } from '../model/facts.ts';
import type { Timestamp } from '../model/ids.ts';
import type { AttemptRow, GateRow, JobRow, LeaseRow, RunRow } from '../model/rows.ts';
import type { AttemptState, JobState } from '../model/states.ts';
import { isAttemptTerminal, isGateEnded, isJobEnded, isLeaseLive, isRunTerminal } from '../model/states.ts';
import type { RunWriter } from './run-state.ts';

/** Applies one fact in place. Throws when the fact is not the next one, or its `from` is not the row's state. */
export function evolve(state: RunWriter, fact: Fact): void {
  if (fact.sequence !== state.sequence + 1) {
    throw new Error(`fact ${fact.sequence} (${fact.type}) does not follow ${state.sequence}`);
  }
  switch (fact.entity) {
    case 'run':
      evolveRun(state, fact);
      break;
    case 'job':
      evolveJob(state, fact);
      break;
    case 'attempt':
      evolveAttempt(state, fact);
      break;
    case 'lease':
      evolveLease(state, fact);
      break;
    case 'gate':
      evolveGate(state, fact);
      break;
  }
  state.setSequence(fact.sequence);
}

function evolveRun(state: RunWriter, fact: RunFact): void {
  const old = state.run;
  if (fact.from !== null) expectState(fact, old.state);
  const row: RunRow = {
    ...old,
    ...fact.set,
    state: fact.to,
    reason: fact.from === fact.to ? old.reason : fact.reason,
    version: fact.version,
    startedAt: fact.type === 'RunStarted' ? fact.at : old.startedAt,
    finishedAt: isRunTerminal(fact.to) ? (old.finishedAt ?? fact.at) : null,
  };
  state.putRun(row);
  if (fact.credit !== undefined) moveQueueDeadlines(state, fact.credit);
}

/** Queue time does not run while nobody could grant (state-machines: Outage credit). */
function moveQueueDeadlines(state: RunWriter, credit: { readonly gapStart: Timestamp; readonly gapMs: number }): void {
  for (let at = 0; at < state.index.plan.nodes.length; at += 1) {
    const row = state.node(at);
    if (row.kind === 'job' && isQueuedBefore(row, credit.gapStart)) {
      state.putNode({ ...row, queueDeadlineAt: (row.queueDeadlineAt ?? 0) + credit.gapMs });
    }
  }
}

/** Whether an outage that began at `gapStart` moves this job's queue deadline. */
export function isQueuedBefore(row: JobRow, gapStart: Timestamp): boolean {
  const queued = row.state === 'Eligible' || row.state === 'Leased';
  return queued && row.queueDeadlineAt !== null && row.eligibleAt !== null && row.eligibleAt <= gapStart;
}

function evolveJob(state: RunWriter, fact: JobFact): void {
  const old = state.job(fact.index);
  expectState(fact, old.state);
  // A job that returns to the queue keeps its place there (state-machines: oldest first).
  const moved = fact.from !== fact.to && fact.type !== 'JobReturnedToQueue';
  const row: JobRow = {
    ...old,
    ...fact.set,
    ...(moved ? jobTimes(fact.to, fact.at) : {}),
    state: fact.to,
    reason: fact.reason,
    version: fact.version,
  };
  state.putNode(row);
  if (fact.attempt !== undefined) movePhase(state, fact, fact.attempt);
}

function movePhase(state: RunWriter, fact: JobFact, moved: NonNullable<JobFact['attempt']>): void {
  const old = state.attempt(moved.id);
  if (old === undefined) throw new Error(`fact ${fact.sequence} (${fact.type}): no attempt ${moved.id}`);
  if (old.state !== moved.from)
    throw new Error(`fact ${fact.sequence} (${fact.type}): attempt is ${old.state}, not ${moved.from}`);
  state.putAttempt({
    ...old,
    ...moved.set,
    ...attemptTimes(moved.to, fact.at),
    state: moved.to,
    version: old.version + 1,
  });
}

function evolveAttempt(state: RunWriter, fact: AttemptFact): void {
  if (fact.type === 'AttemptCreated') {
    state.putAttempt(wholeRow<AttemptRow>(fact.set, fact.id));
    return;
  }
  const old = state.attempt(fact.id);
  if (old === undefined) throw new Error(`fact ${fact.sequence} (${fact.type}): no attempt ${fact.id}`);
  expectState(fact, old.state);
  if (fact.type === 'LateAttemptResultRejected') {
    state.putAttempt({ ...old, ...fact.set });
    return;
  }
  const times = isAttemptTerminal(fact.to) ? { finishedAt: fact.at } : {};
  state.putAttempt({ ...old, ...fact.set, ...times, state: fact.to, reason: fact.reason, version: fact.version });
}

function evolveLease(state: RunWriter, fact: LeaseFact): void {
  if (fact.type === 'LeaseGranted') {
    state.putLease(wholeRow<LeaseRow>(fact.set, fact.id));
    return;
  }
  const old = state.lease(fact.id);
  if (old === undefined) throw new Error(`fact ${fact.sequence} (${fact.type}): no lease ${fact.id}`);
  expectState(fact, old.state);
  state.putLease({
    ...old,
    ...fact.set,
    state: fact.to,
    reason: fact.reason,
    version: fact.version,
    finishedAt: isLeaseLive(fact.to) ? null : fact.at,
  });
}

function evolveGate(state: RunWriter, fact: GateFact): void {
  const old = state.gate(fact.index);
  expectState(fact, old.state);
  const row: GateRow = {
    ...old,
    ...fact.set,
    state: fact.to,
    reason: fact.reason,
    version: fact.version,
    openedAt: fact.type === 'GateOpened' ? fact.at : old.openedAt,
    finishedAt: isGateEnded(fact.to) ? fact.at : null,
  };
  state.putNode(row);
}

function expectState(fact: Fact, state: string): void {
  if (fact.from !== state)
    throw new Error(`fact ${fact.sequence} (${fact.type}): the ${fact.entity} is ${state}, not ${fact.from}`);
}

/** The first fact of an attempt or lease carries the whole row. */
function wholeRow<Row extends { readonly id: string }>(set: Partial<Row>, id: string): Row {
  if (set.id !== id) throw new Error(`the first fact of ${id} does not carry its row`);
  return set as Row;
}

function jobTimes(to: JobState, at: Timestamp): Partial<JobRow> {
  switch (to) {
    case 'Eligible':
      return { eligibleAt: at };
    case 'Leased':
      return { leasedAt: at };
    case 'Preparing':
      return { preparingAt: at };
    case 'Running':
      return { startedAt: at };
    case 'UploadingOutputs':
      return { uploadingAt: at };
    default:
      return isJobEnded(to) ? { finishedAt: at } : {};
  }
}

function attemptTimes(to: AttemptState, at: Timestamp): Partial<AttemptRow> {
  switch (to) {
    case 'Preparing':
      return { preparingAt: at };
    case 'Running':
      return { startedAt: at };
    case 'UploadingOutputs':
      return { uploadingAt: at };
    default:
      return {};
  }
}
