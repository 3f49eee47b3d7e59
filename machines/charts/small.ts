/**
 * The small machines around a run: runner session, outbox row, durable timer, external effect
 * (000 §191-193, §262-271; 003 §20-23, §78-81, §201-205). Their input is one set of named booleans.
 */
import { setup } from 'xstate';
import type { Chart, Guards } from './chart.ts';
import { answer, answering, machineGuards, named, refuse } from './chart.ts';
import { compileTable } from './compile-table.ts';

export interface ClaimInput {
  /** The claim token of the command is the row's. */
  readonly tokenMatches: boolean;
  /** The claim or the next attempt time has passed. */
  readonly due: boolean;
}
export const quietClaimInput: ClaimInput = { tokenMatches: true, due: true };

export const claimGuards = {
  foreignToken: (input) => !input.tokenMatches,
  notDue: (input) => !input.due,
} satisfies Guards<ClaimInput>;
const guards = machineGuards<ClaimInput, typeof claimGuards>(claimGuards);
const stale = { guard: 'foreignToken', actions: refuse('Stale') } as const;
const early = { guard: 'notDue', actions: answer('NotDue') } as const;
const done = { actions: answer('AlreadyDone') } as const;

export const sessionEvents = ['DrainRequested', 'SessionClosed', 'SessionReplaced'] as const;
export const sessionMachine = setup({
  types: { context: {} as ClaimInput, events: {} as { type: (typeof sessionEvents)[number] } },
  guards,
  actions: { ...answering, revokeOffers: named, expireHeld: named },
}).createMachine({
  id: 'session',
  context: quietClaimInput,
  initial: 'Active',
  states: {
    Active: {
      on: {
        DrainRequested: { target: 'Draining', actions: ['revokeOffers'] },
        SessionClosed: { target: 'Closed', actions: ['revokeOffers', 'expireHeld'] },
        SessionReplaced: { target: 'Replaced', actions: ['revokeOffers'] },
      },
    },
    Draining: {
      on: {
        DrainRequested: done,
        SessionClosed: { target: 'Closed', actions: ['revokeOffers', 'expireHeld'] },
        SessionReplaced: { target: 'Replaced', actions: ['revokeOffers'] },
      },
    },
    Closed: { tags: 'terminal', on: { SessionClosed: done } },
    Replaced: { tags: 'terminal', on: { SessionReplaced: done } },
  },
});
export const sessionChart: Chart<ClaimInput> = {
  machine: sessionMachine,
  guards: claimGuards,
  table: compileTable(sessionMachine),
};

export const outboxEvents = ['Claimed', 'Delivered', 'PublishFailed', 'ClaimExpired'] as const;
export const outboxMachine = setup({
  types: { context: {} as ClaimInput, events: {} as { type: (typeof outboxEvents)[number] } },
  guards,
  actions: { ...answering, takeClaim: named, dropClaim: named, scheduleAttempt: named },
}).createMachine({
  id: 'outbox',
  context: quietClaimInput,
  initial: 'Pending',
  states: {
    Pending: { on: { Claimed: { target: 'Publishing', actions: ['takeClaim'] } } },
    Publishing: {
      on: {
        Delivered: [stale, { target: 'Delivered', actions: ['dropClaim'] }],
        PublishFailed: [stale, { target: 'Failed', actions: ['dropClaim', 'scheduleAttempt'] }],
        ClaimExpired: [early, { target: 'Pending', actions: ['dropClaim'] }],
      },
    },
    Failed: { on: { Claimed: [early, { target: 'Publishing', actions: ['takeClaim'] }] } },
    Delivered: { type: 'final' },
  },
});
export const outboxChart: Chart<ClaimInput> = {
  machine: outboxMachine,
  guards: claimGuards,
  table: compileTable(outboxMachine),
};

export const timerEvents = ['Claimed', 'Fired', 'ClaimExpired', 'Cancelled', 'Moved'] as const;
export const timerMachine = setup({
  types: { context: {} as ClaimInput, events: {} as { type: (typeof timerEvents)[number] } },
  guards,
  actions: { ...answering, takeClaim: named, dropClaim: named, setDueAt: named },
}).createMachine({
  id: 'timer',
  context: quietClaimInput,
  initial: 'Pending',
  states: {
    Pending: {
      on: {
        Claimed: [early, { target: 'Claimed', actions: ['takeClaim'] }],
        Cancelled: { target: 'Cancelled' },
        Moved: { actions: ['setDueAt'] },
      },
    },
    Claimed: {
      on: {
        Fired: [stale, { target: 'Fired', actions: ['dropClaim'] }],
        ClaimExpired: [early, { target: 'Pending', actions: ['dropClaim'] }],
        Cancelled: { target: 'Cancelled', actions: ['dropClaim'] },
        Moved: { target: 'Pending', actions: ['dropClaim', 'setDueAt'] },
      },
    },
    // The same deadline may be set anew (a job that returns to the queue).
    Fired: { on: { Moved: { target: 'Pending', actions: ['setDueAt'] } } },
    Cancelled: { on: { Moved: { target: 'Pending', actions: ['setDueAt'] } } },
  },
});
export const timerChart: Chart<ClaimInput> = {
  machine: timerMachine,
  guards: claimGuards,
  table: compileTable(timerMachine),
};

export const effectEvents = [
  'Started',
  'ReportedSuccess',
  'ReportedFailure',
  'OutcomeUnknown',
  'FoundDone',
  'FoundFailed',
  'FoundAbsent',
] as const;
export const effectMachine = setup({
  types: { context: {} as ClaimInput, events: {} as { type: (typeof effectEvents)[number] } },
  guards,
  actions: { ...answering, takeClaim: named, dropClaim: named },
}).createMachine({
  id: 'effect',
  context: quietClaimInput,
  initial: 'Pending',
  states: {
    Pending: { on: { Started: { target: 'InProgress', actions: ['takeClaim'] } } },
    InProgress: {
      on: {
        ReportedSuccess: [stale, { target: 'Succeeded', actions: ['dropClaim'] }],
        ReportedFailure: [stale, { target: 'Failed', actions: ['dropClaim'] }],
        OutcomeUnknown: { target: 'Unknown', actions: ['dropClaim'] },
      },
    },
    // Never retried out of Unknown without asking the other side (003 §112, §205).
    Unknown: {
      on: { FoundDone: { target: 'Succeeded' }, FoundFailed: { target: 'Failed' }, FoundAbsent: { target: 'Pending' } },
    },
    Succeeded: { type: 'final' },
    Failed: { type: 'final' },
  },
});
export const effectChart: Chart<ClaimInput> = {
  machine: effectMachine,
  guards: claimGuards,
  table: compileTable(effectMachine),
};
