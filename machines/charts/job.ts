/** The job: one logical node of the plan (000 §12-27, §51-60, §235-237). Rules: docs/state-machines.md. */
import { setup } from 'xstate';
import type { FailureClass } from '../model/failure-class.ts';
import type { JobIntent, JobIntentKind } from '../model/rows.ts';
import type { CompletionAfterIntent } from '../plan/plan.ts';
import type { RetryVerdict } from '../policies/retry.ts';
import { noRetry } from '../policies/retry.ts';
import type { Chart, Guards } from './chart.ts';
import { answer, answering, decideAs, machineGuards, named, refuse } from './chart.ts';
import { compileTable } from './compile-table.ts';

/** Everything the guards of a job may look at (000 §242, §243: no hidden state). */
export interface JobInput {
  readonly runTerminating: boolean;
  readonly intent: JobIntent | null;
  /** TerminationRequested and TimeoutReached: the intent asked for. */
  readonly requested: JobIntentKind | null;
  /** Whether the deadline this event speaks of has come, for this attempt and phase. */
  readonly due: boolean;
  /** The class a failing event is judged by; Timeout when a TimedOut intent stands. */
  readonly failureClass: FailureClass | null;
  readonly retry: RetryVerdict;
  /** This refusal is the one that spends an infrastructure retry. */
  readonly refusalSpends: boolean;
  readonly outputsVerified: boolean;
  readonly completionAfterIntent: CompletionAfterIntent;
}

const isStopping = (intent: JobIntent | null): boolean => intent !== null && intent.kind !== 'TimedOut';

export const jobGuards = {
  runTerminating: (input) => input.runTerminating,
  notDue: (input) => !input.due,
  hasIntent: (input) => input.intent !== null,
  hasNoIntent: (input) => input.intent === null,
  /** An intent that ends in Cancelled: Cancelled, Superseded or FailFast. */
  hasStoppingIntent: (input) => isStopping(input.intent),
  /** TimedOut < {Cancelled, Superseded, FailFast}; the first of the upper three stands. */
  intentStands: (input) => isStopping(input.intent) || (input.intent !== null && input.requested === 'TimedOut'),
  classCancelled: (input) => input.failureClass === 'Cancelled',
  retriesLater: (input) => input.retry.retry && input.retry.delayMs > 0,
  retriesAtOnce: (input) => input.retry.retry && input.retry.delayMs === 0,
  endsTimedOut: (input) => input.failureClass === 'Timeout',
  refusalEndsJob: (input) => input.refusalSpends && !input.retry.retry,
  refusalSpends: (input) => input.refusalSpends,
  outputsUnverified: (input) => !input.outputsVerified,
  successCounts: (input) => input.intent === null || input.completionAfterIntent === 'accept_success',
} satisfies Guards<JobInput>;

/** What the guards see before anything happened. */
export const quietJobInput: JobInput = {
  runTerminating: false,
  intent: null,
  requested: null,
  due: true,
  failureClass: null,
  retry: noRetry,
  refusalSpends: false,
  outputsVerified: true,
  completionAfterIntent: 'honor_intent',
};

export const jobEvents = [
  'DependenciesSatisfied',
  'Skip',
  'CacheHit',
  'LeaseGranted',
  'QueueTimeoutReached',
  'LeaseRejected',
  'OfferExpired',
  'LeaseRevoked',
  'PreparationStarted',
  'WorkStarted',
  'WorkFinished',
  'AttemptSucceeded',
  'AttemptFailed',
  'TerminationRequested',
  'TimeoutReached',
  'TerminationConfirmed',
  'LeaseExpired',
  'LostResolved',
  'RetryDue',
] as const;
export type JobEvent = (typeof jobEvents)[number];

const names = setup({
  types: { context: {} as JobInput, events: {} as { type: JobEvent } },
  guards: machineGuards<JobInput, typeof jobGuards>(jobGuards),
  actions: {
    ...answering,
    enterQueue: named,
    openAttempt: named,
    closeAttempt: named,
    countRefusal: named,
    resetRefusals: named,
    charge: named,
    scheduleRetry: named,
    setIntent: named,
    clearIntent: named,
    recordSkip: named,
    recordSuccess: named,
  },
});

/** The intent's end first, then a retry. */
const stopsOrRetries = [
  { guard: 'hasStoppingIntent', target: 'Cancelled', actions: ['closeAttempt'] },
  {
    guard: 'retriesLater',
    target: 'RetryWaiting',
    actions: ['closeAttempt', 'charge', 'clearIntent', 'scheduleRetry'],
  },
  { guard: 'retriesAtOnce', target: 'Eligible', actions: ['closeAttempt', 'charge', 'clearIntent', 'enterQueue'] },
] as const;
const timesOut = { target: 'TimedOut', actions: ['closeAttempt', 'charge'] } as const;
/** How a failing end is judged; Timeout may be the last word without an intent too. */
const judgedAsFailure = [
  ...stopsOrRetries,
  { guard: 'endsTimedOut', ...timesOut },
  { target: 'Failed', actions: ['closeAttempt', 'charge'] },
] as const;
/** The end of an attempt whose intent stands: what does not stop was timing out. */
const judgedAsIntended = [...stopsOrRetries, timesOut] as const;

const returnsToQueue = [
  { guard: 'refusalEndsJob', target: 'Failed', actions: ['closeAttempt', 'charge', 'resetRefusals'] },
  {
    guard: 'refusalSpends',
    target: 'RetryWaiting',
    actions: ['closeAttempt', 'charge', 'resetRefusals', 'scheduleRetry'],
  },
  { target: 'Eligible', actions: ['closeAttempt', 'countRefusal'] },
] as const;
const offerExpires = [{ guard: 'notDue', actions: answer('NotDue') }, ...returnsToQueue] as const;

const cancelsAtOnce = { target: 'Cancelled' } as const;
const setsIntent = [{ guard: 'intentStands', actions: answer('AlreadyDone') }, { actions: ['setIntent'] }] as const;
const phaseTimeout = [
  { guard: 'notDue', actions: answer('NotDue') },
  { guard: 'intentStands', actions: answer('AlreadyDone') },
  { actions: ['setIntent'] },
] as const;
const failsInPhase = [{ guard: 'classCancelled', actions: refuse('RunnerMayNotCancel') }, ...judgedAsFailure] as const;
const confirmsTermination = [
  { guard: 'hasNoIntent', actions: refuse('NoTerminationRequested') },
  ...judgedAsIntended,
] as const;
const leaseExpires = [
  { guard: 'notDue', actions: answer('NotDue') },
  { guard: 'hasNoIntent', target: 'Lost', actions: ['closeAttempt'] },
  ...judgedAsIntended,
] as const;
const outOfOrder = { actions: refuse('OutOfOrder') } as const;
const alreadyDone = { actions: answer('AlreadyDone') } as const;
const notDueAnyMore = { actions: answer('NotDue') } as const;
const terminates = { actions: refuse('RunTerminating'), guard: 'runTerminating' } as const;

export const jobMachine = names.createMachine({
  id: 'job',
  context: quietJobInput,
  initial: 'Pending',
  states: {
    Pending: {
      on: {
        DependenciesSatisfied: [terminates, { target: 'Eligible', actions: ['enterQueue'] }],
        Skip: [terminates, { target: 'Skipped', actions: ['recordSkip'] }],
        TerminationRequested: cancelsAtOnce,
      },
    },
    RetryWaiting: {
      on: {
        RetryDue: [
          terminates,
          { guard: 'notDue', actions: answer('NotDue') },
          { target: 'Eligible', actions: ['enterQueue'] },
        ],
        TerminationRequested: cancelsAtOnce,
        TimeoutReached: notDueAnyMore,
      },
    },
    Eligible: {
      on: {
        DependenciesSatisfied: alreadyDone,
        RetryDue: notDueAnyMore,
        Skip: [terminates, { target: 'Skipped', actions: ['recordSkip'] }],
        CacheHit: [
          terminates,
          { guard: 'outputsUnverified', actions: refuse('OutputsUnverified') },
          { target: 'Succeeded', actions: ['recordSuccess'] },
        ],
        LeaseGranted: [terminates, { target: 'Leased', actions: ['openAttempt'] }],
        QueueTimeoutReached: [{ guard: 'notDue', actions: answer('NotDue') }, { target: 'TimedOut' }],
        TerminationRequested: cancelsAtOnce,
        TimeoutReached: notDueAnyMore,
      },
    },
    Leased: {
      on: {
        QueueTimeoutReached: notDueAnyMore,
        LeaseRejected: [...returnsToQueue],
        OfferExpired: [...offerExpires],
        LeaseRevoked: { target: 'Eligible', actions: ['closeAttempt'] },
        PreparationStarted: { target: 'Preparing', actions: ['resetRefusals'] },
        WorkStarted: outOfOrder,
        WorkFinished: outOfOrder,
        AttemptSucceeded: outOfOrder,
        AttemptFailed: outOfOrder,
        TerminationConfirmed: outOfOrder,
        TerminationRequested: { target: 'Cancelled', actions: ['closeAttempt'] },
        TimeoutReached: notDueAnyMore,
      },
    },
    Preparing: {
      on: {
        PreparationStarted: alreadyDone,
        WorkStarted: [{ guard: 'hasIntent', actions: decideAs('TerminationConfirmed') }, { target: 'Running' }],
        WorkFinished: outOfOrder,
        AttemptSucceeded: outOfOrder,
        AttemptFailed: [...failsInPhase],
        TerminationRequested: [...setsIntent],
        TimeoutReached: [...phaseTimeout],
        TerminationConfirmed: [...confirmsTermination],
        LeaseExpired: [...leaseExpires],
      },
    },
    Running: {
      on: {
        PreparationStarted: alreadyDone,
        WorkStarted: alreadyDone,
        WorkFinished: { target: 'UploadingOutputs' },
        AttemptSucceeded: outOfOrder,
        AttemptFailed: [...failsInPhase],
        TerminationRequested: [...setsIntent],
        TimeoutReached: [...phaseTimeout],
        TerminationConfirmed: [...confirmsTermination],
        LeaseExpired: [...leaseExpires],
      },
    },
    UploadingOutputs: {
      on: {
        PreparationStarted: alreadyDone,
        WorkStarted: alreadyDone,
        WorkFinished: alreadyDone,
        AttemptSucceeded: [
          { guard: 'outputsUnverified', actions: refuse('OutputsUnverified') },
          { guard: 'successCounts', target: 'Succeeded', actions: ['closeAttempt', 'recordSuccess'] },
          { guard: 'hasStoppingIntent', target: 'Cancelled', actions: ['closeAttempt'] },
          { target: 'TimedOut', actions: ['closeAttempt', 'charge'] },
        ],
        AttemptFailed: [...failsInPhase],
        TerminationRequested: [...setsIntent],
        TimeoutReached: [...phaseTimeout],
        TerminationConfirmed: [...confirmsTermination],
        LeaseExpired: [...leaseExpires],
      },
    },
    Lost: {
      on: {
        LostResolved: [
          terminates,
          { guard: 'retriesLater', target: 'RetryWaiting', actions: ['charge', 'scheduleRetry'] },
          { guard: 'retriesAtOnce', target: 'Eligible', actions: ['charge', 'enterQueue'] },
          { target: 'Failed', actions: ['charge'] },
        ],
        TerminationRequested: cancelsAtOnce,
        TimeoutReached: notDueAnyMore,
      },
    },
    Succeeded: { type: 'final' },
    Failed: { type: 'final' },
    Cancelled: { type: 'final' },
    TimedOut: { type: 'final' },
    Skipped: { type: 'final' },
  },
});

export const jobChart: Chart<JobInput> = { machine: jobMachine, guards: jobGuards, table: compileTable(jobMachine) };
