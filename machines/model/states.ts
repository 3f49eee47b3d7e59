/**
 * The states of every entity (000 §10, §30, §59, §90; 003 §20, §78, §201). Closed lists: a new state is a
 * new table version.
 */
export const runStates = [
  'Queued',
  'Running',
  'Cancelling',
  'Succeeded',
  'Failed',
  'Cancelled',
  'TimedOut',
  'Superseded',
] as const;
export const jobStates = [
  'Pending',
  'RetryWaiting',
  'Eligible',
  'Leased',
  'Preparing',
  'Running',
  'UploadingOutputs',
  'Lost',
  'Succeeded',
  'Failed',
  'Cancelled',
  'TimedOut',
  'Skipped',
] as const;
export const attemptStates = [
  'Leased',
  'Preparing',
  'Running',
  'UploadingOutputs',
  'Succeeded',
  'Failed',
  'Cancelled',
  'TimedOut',
  'Lost',
  'Rejected',
] as const;
export const leaseStates = ['Offered', 'Held', 'Released', 'Expired', 'Rejected', 'Revoked'] as const;
export const gateStates = ['Pending', 'Satisfied', 'Rejected', 'Cancelled'] as const;
export const sessionStates = ['Active', 'Draining', 'Closed', 'Replaced'] as const;

export type RunState = (typeof runStates)[number];
export type JobState = (typeof jobStates)[number];
export type AttemptState = (typeof attemptStates)[number];
export type LeaseState = (typeof leaseStates)[number];
export type GateState = (typeof gateStates)[number];
export type SessionState = (typeof sessionStates)[number];

const runTerminal: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Cancelled', 'TimedOut', 'Superseded']);
const jobEnded: ReadonlySet<string> = new Set(['Succeeded', 'Failed', 'Cancelled', 'TimedOut', 'Skipped']);
const jobActive: ReadonlySet<string> = new Set(['Leased', 'Preparing', 'Running', 'UploadingOutputs']);
const jobWaiting: ReadonlySet<string> = new Set(['Pending', 'RetryWaiting', 'Eligible']);
const attemptTerminal: ReadonlySet<string> = new Set([
  'Succeeded',
  'Failed',
  'Cancelled',
  'TimedOut',
  'Lost',
  'Rejected',
]);

export const isRunTerminal = (state: RunState): boolean => runTerminal.has(state);
/** Ended for good; Lost is not: its verdict is still due. */
export const isJobEnded = (state: JobState): boolean => jobEnded.has(state);
/** Has a current attempt and a live lease. */
export const isJobActive = (state: JobState): boolean => jobActive.has(state);
export const isJobWaiting = (state: JobState): boolean => jobWaiting.has(state);
export const isAttemptTerminal = (state: AttemptState): boolean => attemptTerminal.has(state);
export const isLeaseLive = (state: LeaseState): boolean => state === 'Offered' || state === 'Held';
export const isGateEnded = (state: GateState): boolean => state !== 'Pending';
