/** One event on a gate. */
import { step } from '../charts/chart.ts';
import type { GateEvent, GateInput } from '../charts/gate.ts';
import type { GateFactType } from '../model/facts.ts';
import type { Reason } from '../model/rows.ts';
import type { GateState } from '../model/states.ts';
import { gateStates } from '../model/states.ts';
import type { Draft } from '../state/run-state.ts';
import type { DecideContext } from './context.ts';
import { applyEffects, gateEffects } from './effects.ts';
import { memberOf } from './job-facts.ts';
import type { StepAnswer } from './job-move.ts';
import { record } from './record.ts';

const factOf: { readonly [K in GateState]: GateFactType } = {
  Pending: 'GateOpened',
  Satisfied: 'GateSatisfied',
  Rejected: 'GateRejected',
  Cancelled: 'GateCancelled',
};

export function stepGate(
  draft: Draft,
  context: DecideContext,
  index: number,
  event: GateEvent,
  reason: Reason,
): StepAnswer {
  const gate = draft.gate(index);
  const planned = draft.index.gate(index);
  const input: GateInput = {
    open: gate.openedAt !== null,
    due: gate.expiresAt !== null && gate.expiresAt <= context.now,
    satisfiesOnExpiry: planned.onExpiry === 'satisfy',
    runTerminating: draft.run.intent !== null,
  };
  const decided = step(context.charts.gate, gate.state, event, input);
  switch (decided.kind) {
    case 'answer':
      return { kind: 'no-op', code: decided.code };
    case 'refuse':
      return { kind: 'rejected', code: decided.code };
    case 'decideAs':
      throw new Error(`gates decide nothing as ${decided.event}`);
    case 'move': {
      const to = memberOf(gateStates, decided.target);
      const set = applyEffects(gateEffects, decided.effects, {
        now: context.now,
        expiryMs: planned.expiryMs,
        actor: context.actor,
      });
      record(draft, context, {
        entity: 'gate',
        type: factOf[to],
        id: gate.id,
        index,
        from: gate.state,
        to,
        reason,
        version: gate.version + 1,
        set,
      });
      return { kind: 'moved' };
    }
  }
}
