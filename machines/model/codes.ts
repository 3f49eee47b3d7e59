/**
 * The closed lists of codes. A reason says why a fact happened, a rejection why a command changed nothing,
 * a no-op code which standing result answers it. One sentence each; texts for people are made from these.
 */
import { failureClasses } from './failure-class.ts';

export const reasonCodes = [
  'RunRequested', // the run was created
  'FirstWork', // the first preparation or gate decision of the run
  'NoDependencies', // nothing to wait for
  'DependenciesSatisfied', // every edge is decided and satisfied
  'RetryDelayElapsed', // the persisted backoff is over
  'Granted', // the scheduler granted a lease
  'Accepted', // the runner took the offer
  'WorkStarted', // the workload was launched
  'WorkFinished', // the workload ended, outputs are uploaded
  'OutputsVerified', // the result was committed
  'AcceptedDespiteIntent', // completion-after-intent lets a success stand
  'ActionCacheHit', // verified outputs of an equal job were reused
  'OfferRejected', // the runner declined before execution
  'OfferExpired', // nobody accepted in time
  'OfferRevoked', // drain, a closed session or the daemon took the offer back
  'NoWillingRunner', // too many refusals in a row
  'LeaseExpired', // renewals stopped
  'QueueTimeout',
  'PreparationTimeout',
  'ExecutionTimeout',
  'UploadTimeout',
  'RunDeadline',
  'OperatorCancelled', // somebody cancelled this job
  'RunCancelled', // somebody cancelled the run
  'Superseded', // a newer run of the concurrency group replaced this one
  'FailFast', // a sibling's final failure ended it
  'ConditionFalse',
  'ConditionNotMet',
  'PlanPruned',
  'Manual', // skips that satisfy
  'UpstreamFailed',
  'UpstreamCancelled', // skips that do not; `root` names the cause
  'GateReady', // the prerequisites of a gate are satisfied
  'Approved',
  'RejectedByActor',
  'GateExpired',
  'NotNeeded',
  'RequiredJobsSucceeded',
  'RequiredJobFailed',
  'RequiredJobCancelled', // verdicts of a run
  'PriorityRequested',
  'ControlPlaneOutage',
  'LateResult',
  ...failureClasses,
] as const;
export type ReasonCode = (typeof reasonCodes)[number];

/** Why a command changed nothing. */
export const rejectionCodes = {
  AlreadyTerminal: 'The entity has ended; ended entities never change.',
  IllegalTransition: 'The event is not legal in the current state.',
  OutOfOrder: 'A phase was skipped; resync and report the phases in order.',
  RunTerminating: 'The run has a termination intent: nothing new starts.',
  NoTerminationRequested: 'The runner reported a termination nobody asked for.',
  RunnerMayNotCancel: 'A runner cannot cancel a job; its own shutdown is an Infrastructure failure.',
  OutputsUnverified: 'An output is missing or differs from its digest; upload again.',
  GateNotOpen: 'The prerequisites of the gate are not satisfied yet.',
  NotAnApprover: 'The plan does not list this actor as an approver of the gate.',
  Stale: 'The attempt or lease is no longer the current one.',
  Foreign: 'The job, attempt, lease, runner or session does not belong to this message.',
  SpecMismatch: 'The attempt was bound to another job spec.',
  LeaseExpired: 'The lease or offer has expired.',
  SessionNotActive: 'The runner session is draining, closed or replaced: no grants.',
  CapabilitiesUnmet: 'The session lacks a capability the job needs.',
  UnknownEntity: 'There is no such run, job or gate.',
  RunExists: 'The request id was already used for a run with another plan.',
  NotAllowed: 'The actor lacks the permission.',
  InvalidCommand: 'The command is malformed or outside the limits.',
  Overloaded: 'The mailbox of the run is full; try again later.',
} as const;
export type RejectionCode = keyof typeof rejectionCodes;

/** Which standing result a no-op answers with. */
export const noOpCodes = {
  AlreadyDone: 'The entity is already in, or past, the state asked for.',
  AlreadyTerminating: 'An intent of the same or a higher rank stands.',
  AlreadyTerminal: 'The run had already ended.',
  NotDue: 'The deadline moved or belongs to another attempt or phase.',
  NothingDue: 'There was nothing left to judge.',
  Duplicate: 'The same request was answered before.',
} as const;
export type NoOpCode = keyof typeof noOpCodes;
