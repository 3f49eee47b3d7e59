/** The attempt: one concrete execution of a job; its end is the physical one (000 §28-32). */
import { setup } from 'xstate';
import type { FailureClass } from '../model/failure-class.ts';
import type { JobIntent } from '../model/rows.ts';
import type { CompletionAfterIntent } from '../plan/plan.ts';
import type { Chart, Guards } from './chart.ts';
import { answer, answering, machineGuards, named, refuse } from './chart.ts';
import { compileTable } from './compile-table.ts';

export interface AttemptInput {
  /** The intent of the job. */
  readonly intent: JobIntent | null;
  /** As in the job: Timeout when a TimedOut intent stands. */
  readonly failureClass: FailureClass | null;
  readonly due: boolean;
  readonly outputsVerified: boolean;
  readonly completionAfterIntent: CompletionAfterIntent;
  /** A late result of this attempt is already on record. */
  readonly lateResult: boolean;
}

export const quietAttemptInput: AttemptInput = {
  intent: null,
  failureClass: null,
  due: true,
  outputsVerified: true,
  completionAfterIntent: 'honor_intent',
  lateResult: false,
};

export const attemptGuards = {
  notDue: (input) => !input.due,
  hasNoIntent: (input) => input.intent === null,
  hasStoppingIntent: (input) => input.intent !== null && input.intent.kind !== 'TimedOut',
  endsTimedOut: (input) => input.failureClass === 'Timeout',
  outputsUnverified: (input) => !input.outputsVerified,
  successCounts: (input) => input.intent === null || input.completionAfterIntent === 'accept_success',
  lateResultKnown: (input) => input.lateResult,
} satisfies Guards<AttemptInput>;

export const attemptEvents = [
  'PreparationStarted',
  'WorkStarted',
  'WorkFinished',
  'LeaseRejected',
  'OfferExpired',
  'LeaseRevoked',
  'TerminationRequested',
  'AttemptSucceeded',
  'AttemptFailed',
  'TerminationConfirmed',
  'LeaseExpired',
  'LateResult',
] as const;
export type AttemptEvent = (typeof attemptEvents)[number];

const charting = setup({
  types: { context: {} as AttemptInput, events: {} as { type: AttemptEvent } },
  guards: machineGuards<AttemptInput, typeof attemptGuards>(attemptGuards),
  actions: {
    ...answering,
    armPreparation: named,
    armExecution: named,
    armUpload: named,
    recordResult: named,
    recordLateResult: named,
  },
});

const fails = [
  { guard: 'hasStoppingIntent', target: 'Cancelled', actions: ['recordResult'] },
  { guard: 'endsTimedOut', target: 'TimedOut', actions: ['recordResult'] },
  { target: 'Failed', actions: ['recordResult'] },
] as const;
const terminates = [
  { guard: 'hasNoIntent', actions: refuse('NoTerminationRequested') },
  { guard: 'hasStoppingIntent', target: 'Cancelled', actions: ['recordResult'] },
  { target: 'TimedOut', actions: ['recordResult'] },
] as const;
const expires = [
  { guard: 'notDue', actions: answer('NotDue') },
  { target: 'Lost', actions: ['recordResult'] },
] as const;
const late = [{ guard: 'lateResultKnown', actions: answer('AlreadyDone') }, { actions: ['recordLateResult'] }] as const;
const done = { actions: answer('AlreadyDone') } as const;
const outOfOrder = { actions: refuse('OutOfOrder') } as const;
/** A terminal attempt still takes note of one late result (000 §32, §45). */
const ended = { on: { LateResult: [...late] }, tags: 'terminal' } as const;

export const attemptMachine = charting.createMachine({
  id: 'attempt',
  context: quietAttemptInput,
  initial: 'Leased',
  states: {
    Leased: {
      on: {
        PreparationStarted: { target: 'Preparing', actions: ['armPreparation'] },
        WorkStarted: outOfOrder,
        WorkFinished: outOfOrder,
        AttemptSucceeded: outOfOrder,
        AttemptFailed: outOfOrder,
        TerminationConfirmed: outOfOrder,
        LeaseRejected: { target: 'Rejected', actions: ['recordResult'] },
        OfferExpired: [
          { guard: 'notDue', actions: answer('NotDue') },
          { target: 'Rejected', actions: ['recordResult'] },
        ],
        LeaseRevoked: { target: 'Rejected', actions: ['recordResult'] },
        TerminationRequested: { target: 'Cancelled', actions: ['recordResult'] },
        LateResult: [...late],
      },
    },
    Preparing: {
      on: {
        PreparationStarted: done,
        WorkStarted: { target: 'Running', actions: ['armExecution'] },
        WorkFinished: outOfOrder,
        AttemptSucceeded: outOfOrder,
        AttemptFailed: [...fails],
        TerminationConfirmed: [...terminates],
        LeaseExpired: [...expires],
        LateResult: [...late],
      },
    },
    Running: {
      on: {
        PreparationStarted: done,
        WorkStarted: done,
        WorkFinished: { target: 'UploadingOutputs', actions: ['armUpload'] },
        AttemptSucceeded: outOfOrder,
        AttemptFailed: [...fails],
        TerminationConfirmed: [...terminates],
        LeaseExpired: [...expires],
        LateResult: [...late],
      },
    },
    UploadingOutputs: {
      on: {
        PreparationStarted: done,
        WorkStarted: done,
        WorkFinished: done,
        AttemptSucceeded: [
          { guard: 'outputsUnverified', actions: refuse('OutputsUnverified') },
          { guard: 'successCounts', target: 'Succeeded', actions: ['recordResult'] },
          { guard: 'hasStoppingIntent', target: 'Cancelled', actions: ['recordResult'] },
          { target: 'TimedOut', actions: ['recordResult'] },
        ],
        AttemptFailed: [...fails],
        TerminationConfirmed: [...terminates],
        LeaseExpired: [...expires],
        LateResult: [...late],
      },
    },
    Succeeded: ended,
    Failed: ended,
    Cancelled: ended,
    TimedOut: ended,
    Lost: ended,
    Rejected: ended,
  },
});

export const attemptChart: Chart<AttemptInput> = {
  machine: attemptMachine,
  guards: attemptGuards,
  table: compileTable(attemptMachine),
};
