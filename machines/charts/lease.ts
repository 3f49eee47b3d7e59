/** The lease: bounded authority of one attempt on one runner session (000 §33-46, §266). */
import { setup } from 'xstate';
import type { Chart, Guards } from './chart.ts';
import { answer, answering, machineGuards, named, refuse } from './chart.ts';
import { compileTable } from './compile-table.ts';

export interface LeaseInput {
  /** `offerExpiresAt` or `expiresAt` has passed, by the state. */
  readonly due: boolean;
  readonly outputsVerified: boolean;
  readonly jobHasIntent: boolean;
}

export const quietLeaseInput: LeaseInput = { due: true, outputsVerified: true, jobHasIntent: false };

export const leaseGuards = {
  due: (input) => input.due,
  notDue: (input) => !input.due,
  outputsUnverified: (input) => !input.outputsVerified,
  nothingRequested: (input) => !input.jobHasIntent,
} satisfies Guards<LeaseInput>;

export const leaseEvents = [
  'PreparationStarted',
  'LeaseRejected',
  'OfferExpired',
  'LeaseRevoked',
  'TerminationRequested',
  'Renewed',
  'AttemptSucceeded',
  'AttemptFailed',
  'TerminationConfirmed',
  'LeaseExpired',
] as const;
export type LeaseEvent = (typeof leaseEvents)[number];

const charting = setup({
  types: { context: {} as LeaseInput, events: {} as { type: LeaseEvent } },
  guards: machineGuards<LeaseInput, typeof leaseGuards>(leaseGuards),
  actions: { ...answering, startTtl: named, extend: named },
});

const outOfOrder = { actions: refuse('OutOfOrder') } as const;

export const leaseMachine = charting.createMachine({
  id: 'lease',
  context: quietLeaseInput,
  initial: 'Offered',
  states: {
    Offered: {
      on: {
        PreparationStarted: [
          { guard: 'due', actions: refuse('LeaseExpired') },
          { target: 'Held', actions: ['startTtl'] },
        ],
        LeaseRejected: { target: 'Rejected' },
        OfferExpired: [{ guard: 'notDue', actions: answer('NotDue') }, { target: 'Expired' }],
        LeaseRevoked: { target: 'Revoked' },
        TerminationRequested: { target: 'Revoked' },
        AttemptSucceeded: outOfOrder,
        AttemptFailed: outOfOrder,
        TerminationConfirmed: outOfOrder,
      },
    },
    Held: {
      on: {
        PreparationStarted: { actions: answer('AlreadyDone') },
        Renewed: [{ guard: 'due', actions: refuse('LeaseExpired') }, { actions: ['extend'] }],
        AttemptSucceeded: [
          { guard: 'outputsUnverified', actions: refuse('OutputsUnverified') },
          { target: 'Released' },
        ],
        AttemptFailed: { target: 'Released' },
        TerminationConfirmed: [
          { guard: 'nothingRequested', actions: refuse('NoTerminationRequested') },
          { target: 'Released' },
        ],
        LeaseExpired: [{ guard: 'notDue', actions: answer('NotDue') }, { target: 'Expired' }],
      },
    },
    Released: { type: 'final' },
    Expired: { type: 'final' },
    Rejected: { type: 'final' },
    Revoked: { type: 'final' },
  },
});

export const leaseChart: Chart<LeaseInput> = {
  machine: leaseMachine,
  guards: leaseGuards,
  table: compileTable(leaseMachine),
};
