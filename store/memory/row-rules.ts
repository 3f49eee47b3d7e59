/** What one row must say to be believable: the CHECKs of a database, for the store that has none. */
import type { AttemptRow, GateRow, JobRow, LeaseRow, RunRow } from '../../machines/model/index.ts';
import {
  isAttemptTerminal,
  isGateEnded,
  isJobActive,
  isJobEnded,
  isLeaseLive,
  isRunTerminal,
} from '../../machines/model/index.ts';
import type { RunCommit } from '../contract.ts';

export function contradiction(commit: RunCommit): string | null {
  const wrong =
    (isSoundRun(commit.run) ? undefined : commit.run) ??
    commit.jobs.find((row) => !isSoundJob(row)) ??
    commit.gates.find((row) => !isSoundGate(row)) ??
    commit.attempts.find((row) => !isSoundAttempt(row)) ??
    commit.leases.find((row) => !isSoundLease(row));
  return wrong === undefined ? null : `row ${wrong.id} contradicts itself: ${wrong.state}`;
}

function isSoundRun({ state, intent, finishedAt }: RunRow): boolean {
  if ((finishedAt !== null) !== isRunTerminal(state)) return false;
  switch (state) {
    case 'Queued':
    case 'Running':
    case 'Succeeded':
    case 'Failed':
      return intent === null;
    case 'Cancelling':
      return intent !== null;
    case 'Cancelled':
      return intent === null || intent.kind === 'Cancelled';
    case 'TimedOut':
    case 'Superseded':
      return intent?.kind === state;
  }
}

function isSoundJob(row: JobRow): boolean {
  const { state } = row;
  const mayHaveIntent = isJobEnded(state) || (isJobActive(state) && state !== 'Leased');
  return (
    (row.finishedAt !== null) === isJobEnded(state) &&
    (row.currentAttempt !== null) === isJobActive(state) &&
    (row.currentLease !== null) === isJobActive(state) &&
    (mayHaveIntent || row.intent === null) &&
    (state !== 'Eligible' || row.eligibleAt !== null) &&
    (state !== 'RetryWaiting' || row.retryNotBefore !== null) &&
    (row.executionSource !== null) === (state === 'Succeeded') &&
    (row.satisfies !== null) === (state === 'Skipped') &&
    ((state !== 'Failed' && state !== 'TimedOut') || row.failureClass !== null)
  );
}

function isSoundGate({ state, openedAt, finishedAt }: GateRow): boolean {
  return (
    (finishedAt !== null) === isGateEnded(state) &&
    ((state !== 'Satisfied' && state !== 'Rejected') || openedAt !== null)
  );
}

function isSoundAttempt({ state, number, epoch, finishedAt }: AttemptRow): boolean {
  return (finishedAt !== null) === isAttemptTerminal(state) && number >= 1 && epoch >= 1;
}

function isSoundLease(row: LeaseRow): boolean {
  return (
    (row.finishedAt === null) === isLeaseLive(row.state) &&
    (row.state !== 'Offered' || row.expiresAt === row.offerExpiresAt) &&
    row.epoch >= 1 &&
    row.ttlMs > 0 &&
    row.creditMs >= 0
  );
}
