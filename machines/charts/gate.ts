/** The gate: a decision the graph waits for; never a runner job (000 §89-91, §212-216). */
import { setup } from 'xstate';
import type { Chart, Guards } from './chart.ts';
import { answer, answering, machineGuards, named, refuse } from './chart.ts';
import { compileTable } from './compile-table.ts';

export interface GateInput {
  readonly open: boolean;
  readonly due: boolean;
  readonly satisfiesOnExpiry: boolean;
  readonly runTerminating: boolean;
}

export const quietGateInput: GateInput = { open: true, due: true, satisfiesOnExpiry: false, runTerminating: false };

export const gateGuards = {
  alreadyOpen: (input) => input.open,
  notOpen: (input) => !input.open,
  notDue: (input) => !input.open || !input.due,
  satisfiesOnExpiry: (input) => input.satisfiesOnExpiry,
  runTerminating: (input) => input.runTerminating,
} satisfies Guards<GateInput>;

export const gateEvents = [
  'PrerequisitesSatisfied',
  'PrerequisiteUnmet',
  'Approved',
  'RejectedByActor',
  'ExpiryReached',
  'NotNeeded',
  'TerminationRequested',
] as const;
export type GateEvent = (typeof gateEvents)[number];

const charting = setup({
  types: { context: {} as GateInput, events: {} as { type: GateEvent } },
  guards: machineGuards<GateInput, typeof gateGuards>(gateGuards),
  actions: { ...answering, open: named, recordDecision: named },
});

const terminating = { guard: 'runTerminating', actions: refuse('RunTerminating') } as const;
const notOpen = { guard: 'notOpen', actions: refuse('GateNotOpen') } as const;

export const gateMachine = charting.createMachine({
  id: 'gate',
  context: quietGateInput,
  initial: 'Pending',
  states: {
    Pending: {
      on: {
        PrerequisitesSatisfied: [
          terminating,
          { guard: 'alreadyOpen', actions: answer('AlreadyDone') },
          { actions: ['open'] },
        ],
        PrerequisiteUnmet: [terminating, { target: 'Cancelled' }],
        Approved: [notOpen, { target: 'Satisfied', actions: ['recordDecision'] }],
        RejectedByActor: [notOpen, { target: 'Rejected', actions: ['recordDecision'] }],
        ExpiryReached: [
          { guard: 'notDue', actions: answer('NotDue') },
          { guard: 'satisfiesOnExpiry', target: 'Satisfied' },
          { target: 'Rejected' },
        ],
        NotNeeded: { target: 'Cancelled' },
        TerminationRequested: { target: 'Cancelled' },
      },
    },
    Satisfied: { tags: 'terminal', on: { Approved: { actions: answer('AlreadyDone') } } },
    Rejected: { tags: 'terminal', on: { RejectedByActor: { actions: answer('AlreadyDone') } } },
    Cancelled: { type: 'final' },
  },
});

export const gateChart: Chart<GateInput> = {
  machine: gateMachine,
  guards: gateGuards,
  table: compileTable(gateMachine),
};
