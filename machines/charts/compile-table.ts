/** Flattens a statechart to the table that `step` runs on. Refuses what the house does not allow (C1, C2). */
import type { AnyStateMachine } from 'xstate';
import { z } from 'zod';
import type { NoOpCode, RejectionCode } from '../model/codes.ts';
import { noOpCodes, rejectionCodes } from '../model/codes.ts';
import type { Candidate, Table } from './chart.ts';

const codeParams = z.object({ code: z.string() });
const eventParams = z.object({ event: z.string() });

const actionSchema = z.object({ type: z.string(), params: z.unknown().optional() });

export function compileTable(machine: AnyStateMachine): Table {
  const states = Object.keys(machine.states);
  const events = new Set<string>();
  const terminal: string[] = [];
  const rows: Record<string, Record<string, readonly Candidate[]>> = {};
  for (const state of states) {
    const node = machine.states[state];
    if (node === undefined) continue;
    // XState's final states take no events; a terminal state that still answers some is tagged instead.
    if (node.type === 'final' || node.tags.includes('terminal')) terminal.push(state);
    refuseForbidden(machine.id, state, node);
    const row: Record<string, readonly Candidate[]> = {};
    for (const [event, transitions] of node.transitions) {
      events.add(event);
      row[event] = transitions.map((transition) =>
        candidateOf(machine.id, transition.guard, transition.target?.[0]?.key ?? null, transition.actions),
      );
      if (row[event]?.at(-1)?.guard !== null) {
        throw new Error(`chart ${machine.id}: ${state} x ${event} must end with a candidate without a guard`);
      }
    }
    rows[state] = row;
  }
  return { id: machine.id, initial: initialOf(machine), states, terminal, events: [...events].sort(), rows };
}

function initialOf(machine: AnyStateMachine): string {
  const target = machine.root.initial?.target[0];
  if (target === undefined) throw new Error(`chart ${machine.id}: no initial state`);
  return target.key;
}

function refuseForbidden(id: string, state: string, node: AnyStateMachine['root']): void {
  if (node.invoke.length > 0) throw new Error(`chart ${id}: ${state} invokes an actor`);
  if (node.after.length > 0) throw new Error(`chart ${id}: ${state} has a delayed transition`);
  if (node.entry.length > 0 || node.exit.length > 0) throw new Error(`chart ${id}: ${state} has entry or exit actions`);
  if (node.always !== undefined && node.always.length > 0)
    throw new Error(`chart ${id}: ${state} has an eventless transition`);
  if (Object.keys(node.states).length > 0) throw new Error(`chart ${id}: ${state} has child states`);
}

function candidateOf(id: string, guard: unknown, target: string | null, actions: readonly unknown[]): Candidate {
  const effects: string[] = [];
  let answered: NoOpCode | null = null;
  let refused: RejectionCode | null = null;
  let decidedAs: string | null = null;
  for (const raw of actions) {
    const action = actionSchema.parse(typeof raw === 'string' ? { type: raw } : raw);
    if (action.type === 'answer') answered = noOpCode(codeParams.parse(action.params).code);
    else if (action.type === 'refuse') refused = rejectionCode(codeParams.parse(action.params).code);
    else if (action.type === 'decideAs') decidedAs = eventParams.parse(action.params).event;
    else effects.push(action.type);
  }
  const changesNothing = answered !== null || refused !== null || decidedAs !== null;
  if (changesNothing && (target !== null || effects.length > 0))
    throw new Error(`chart ${id}: an answer must change nothing`);
  return { guard: guardName(id, guard), target, effects, answer: answered, refuse: refused, decideAs: decidedAs };
}

function guardName(id: string, guard: unknown): string | null {
  if (guard === undefined) return null;
  if (typeof guard === 'string') return guard;
  const named = z.object({ type: z.string() }).safeParse(guard);
  if (!named.success) throw new Error(`chart ${id}: guards must be named`);
  return named.data.type;
}

const isNoOpCode = (code: string): code is NoOpCode => Object.hasOwn(noOpCodes, code);
const isRejectionCode = (code: string): code is RejectionCode => Object.hasOwn(rejectionCodes, code);

function noOpCode(code: string): NoOpCode {
  if (!isNoOpCode(code)) throw new Error(`unknown no-op code ${code}`);
  return code;
}

function rejectionCode(code: string): RejectionCode {
  if (!isRejectionCode(code)) throw new Error(`unknown rejection code ${code}`);
  return code;
}
