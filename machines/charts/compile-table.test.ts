import { describe, expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { answer, decideAs, refuse, step } from './chart.ts';
import { compileTable } from './compile-table.ts';

/** Machines outside the house rules, one rule each. */
const forbidden: Readonly<Record<string, () => ReturnType<typeof createMachine>>> = {
  'delayed transition': () => one({ after: { 1000: 'B' } }),
  'invokes an actor': () => one({ invoke: { src: 'work' } }),
  'entry or exit actions': () => one({ entry: 'act' }),
  'eventless transition': () => one({ always: { target: 'B' } }),
  'child states': () => one({ initial: 'X', states: { X: {} } }),
  'without a guard': () => one({ on: { Go: { guard: 'open', target: 'B' } } }),
  'guards must be named': () => one({ on: { Go: [{ guard: () => true, target: 'B' }, { target: 'A' }] } }),
  'an answer must change nothing': () => one({ on: { Go: { target: 'B', actions: answerAction('AlreadyDone') } } }),
  'unknown no-op code': () => one({ on: { Go: { actions: answerAction('Whatever') } } }),
  'unknown rejection code': () => one({ on: { Go: { actions: { type: 'refuse', params: { code: 'Whatever' } } } } }),
  'no initial state': () => createMachine({ id: 'bad' }),
};
const answerAction = (code: string) => ({ type: 'answer', params: { code } });

function one(state: object) {
  return createMachine({ id: 'bad', initial: 'A', states: { A: state, B: {} } });
}

describe('compile: a machine outside the rules is refused', () => {
  test.each(Object.entries(forbidden))('%s', (message, machine) => {
    expect(() => compileTable(machine())).toThrow(message);
  });
});

describe('compile: a table keeps what the machine says', () => {
  const machine = createMachine({
    id: 'door',
    initial: 'Open',
    states: {
      Open: {
        on: {
          Close: [
            { guard: { type: 'jammed' }, actions: refuse('Stale') },
            { target: 'Shut', actions: ['latch', { type: 'ring' }] },
          ],
          Push: { actions: answer('AlreadyDone') },
          Slam: { actions: decideAs('Close') },
        },
      },
      Shut: { type: 'final' },
    },
  });
  const chart = {
    machine,
    guards: { jammed: (input: { jammed: boolean }) => input.jammed },
    table: compileTable(machine),
  };
  const decide = (state: string, event: string, jammed = false) => step(chart, state, event, { jammed });

  test('states, events and where it starts and ends', () => {
    const { id, initial, states, terminal, events } = chart.table;
    expect({ id, initial, states, terminal, events }).toEqual({
      id: 'door',
      initial: 'Open',
      states: ['Open', 'Shut'],
      terminal: ['Shut'],
      events: ['Close', 'Push', 'Slam'],
    });
  });

  test('moves, answers, refusals and other events to decide as', () => {
    expect(decide('Open', 'Close')).toEqual({ kind: 'move', target: 'Shut', effects: ['latch', 'ring'] });
    expect(decide('Open', 'Close', true)).toEqual({ kind: 'refuse', code: 'Stale' });
    expect(decide('Open', 'Push')).toEqual({ kind: 'answer', code: 'AlreadyDone' });
    expect(decide('Open', 'Slam')).toEqual({ kind: 'decideAs', event: 'Close' });
  });

  test('what is not listed is refused, in and after its life, whatever the names', () => {
    expect(decide('Open', 'Fly')).toEqual({ kind: 'refuse', code: 'IllegalTransition' });
    expect(decide('Shut', 'Close')).toEqual({ kind: 'refuse', code: 'AlreadyTerminal' });
    expect(decide('Nowhere', 'Close')).toEqual({ kind: 'refuse', code: 'IllegalTransition' });
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(decide(name, name)).toEqual({ kind: 'refuse', code: 'IllegalTransition' });
      expect(decide('Open', name)).toEqual({ kind: 'refuse', code: 'IllegalTransition' });
    }
  });

  test('a guard nobody defined is a broken invariant', () => {
    expect(() => step({ ...chart, guards: {} }, 'Open', 'Close', { jammed: false })).toThrow('jammed is not defined');
  });
});
