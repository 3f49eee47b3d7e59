/** The run: one execution of one plan (000 §6-11, §231-234). Started, Settled and Drained are found true by commits. */
import { setup } from 'xstate';
import type { RunIntentKind } from '../model/rows.ts';
import type { RunVerdict } from '../policies/verdict.ts';
import type { Chart, Guards } from './chart.ts';
import { answer, answering, machineGuards, named } from './chart.ts';
import { compileTable } from './compile-table.ts';

export interface RunInput {
  /** Jobs in Preparing, Running or UploadingOutputs: what keeps a terminating run Cancelling. */
  readonly jobsHeld: boolean;
  /** Jobs or gates that have not ended. */
  readonly nodesOpen: boolean;
  readonly verdict: RunVerdict;
  readonly intent: RunIntentKind | null;
  /** Whether the run deadline has come. */
  readonly due: boolean;
}

export const quietRunInput: RunInput = {
  jobsHeld: false,
  nodesOpen: false,
  verdict: 'success',
  intent: null,
  due: true,
};

export const runGuards = {
  notDue: (input) => !input.due,
  jobsHeld: (input) => input.jobsHeld,
  nodesOpen: (input) => input.nodesOpen,
  verdictFailure: (input) => input.verdict === 'failure',
  verdictCancelled: (input) => input.verdict === 'cancelled',
  intendsTimedOut: (input) => input.intent === 'TimedOut',
  intendsSuperseded: (input) => input.intent === 'Superseded',
} satisfies Guards<RunInput>;

export const runEvents = [
  'Started',
  'CancelRequested',
  'SupersedeRequested',
  'DeadlineReached',
  'Settled',
  'Drained',
  'PriorityChanged',
  'OutageCredited',
] as const;
export type RunEvent = (typeof runEvents)[number];

const charting = setup({
  types: { context: {} as RunInput, events: {} as { type: RunEvent } },
  guards: machineGuards<RunInput, typeof runGuards>(runGuards),
  actions: { ...answering, recordStart: named, setIntent: named, setPriority: named, recordCredit: named },
});

const terminates = (state: 'Cancelled' | 'Superseded' | 'TimedOut') =>
  [
    { guard: 'jobsHeld', target: 'Cancelling', actions: ['setIntent'] },
    { target: state, actions: ['setIntent'] },
  ] as const;
const open = {
  CancelRequested: [...terminates('Cancelled')],
  SupersedeRequested: [...terminates('Superseded')],
  DeadlineReached: [{ guard: 'notDue', actions: answer('NotDue') }, ...terminates('TimedOut')],
  Settled: [
    { guard: 'nodesOpen', actions: answer('NothingDue') },
    { guard: 'verdictFailure', target: 'Failed' },
    { guard: 'verdictCancelled', target: 'Cancelled' },
    { target: 'Succeeded' },
  ],
  PriorityChanged: { actions: ['setPriority'] },
  OutageCredited: { actions: ['recordCredit'] },
} as const;
const alreadyTerminating = { actions: answer('AlreadyTerminating') } as const;
const alreadyTerminal = { actions: answer('AlreadyTerminal') } as const;
const ended = {
  tags: 'terminal',
  on: { CancelRequested: alreadyTerminal, SupersedeRequested: alreadyTerminal, DeadlineReached: alreadyTerminal },
} as const;

export const runMachine = charting.createMachine({
  id: 'run',
  context: quietRunInput,
  initial: 'Queued',
  states: {
    Queued: { on: { Started: { target: 'Running', actions: ['recordStart'] }, ...open } },
    Running: { on: { Started: { actions: answer('AlreadyDone') }, ...open } },
    Cancelling: {
      on: {
        Started: { actions: answer('AlreadyDone') },
        CancelRequested: alreadyTerminating,
        SupersedeRequested: alreadyTerminating,
        DeadlineReached: alreadyTerminating,
        Drained: [
          { guard: 'jobsHeld', actions: answer('NothingDue') },
          { guard: 'intendsTimedOut', target: 'TimedOut' },
          { guard: 'intendsSuperseded', target: 'Superseded' },
          { target: 'Cancelled' },
        ],
        PriorityChanged: { actions: ['setPriority'] },
        OutageCredited: { actions: ['recordCredit'] },
      },
    },
    Succeeded: ended,
    Failed: ended,
    Cancelled: ended,
    TimedOut: ended,
    Superseded: ended,
  },
});

export const runChart: Chart<RunInput> = { machine: runMachine, guards: runGuards, table: compileTable(runMachine) };
