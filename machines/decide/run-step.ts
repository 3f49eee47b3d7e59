/** One event on the run itself. */
import { step } from '../charts/chart.ts';
import type { RunEvent, RunInput } from '../charts/run.ts';
import type { ReasonCode } from '../model/codes.ts';
import type { RunFact, RunFactType } from '../model/facts.ts';
import type { Reason, RunIntent, RunRow } from '../model/rows.ts';
import type { RunState } from '../model/states.ts';
import { runStates } from '../model/states.ts';
import { runVerdict } from '../policies/verdict.ts';
import type { Draft } from '../state/run-state.ts';
import type { DecideContext } from './context.ts';
import { memberOf } from './job-facts.ts';
import type { StepAnswer } from './job-move.ts';
import { record } from './record.ts';

export interface RunEventData {
  readonly reason: Reason;
  readonly due?: boolean;
  readonly intent?: RunIntent;
  readonly priority?: number;
  readonly credit?: {
    readonly sequence: number;
    readonly gapStart: number;
    readonly gapMs: number;
    readonly leases: number;
  };
}

const factOf: { readonly [K in RunState]: RunFactType } = {
  Queued: 'RunCreated',
  Running: 'RunStarted',
  Cancelling: 'RunCancelling',
  Succeeded: 'RunSucceeded',
  Failed: 'RunFailed',
  Cancelled: 'RunCancelled',
  TimedOut: 'RunTimedOut',
  Superseded: 'RunSuperseded',
};

/** What the run would do, without doing it: whether an intent ends it at once depends on its held jobs. */
export function peekRun(draft: Draft, context: DecideContext, event: RunEvent, data: RunEventData) {
  return step(context.charts.run, draft.run.state, event, runInput(draft, event, data));
}

export function stepRun(draft: Draft, context: DecideContext, event: RunEvent, data: RunEventData): StepAnswer {
  const { run } = draft;
  const decided = peekRun(draft, context, event, data);
  switch (decided.kind) {
    case 'answer':
      return { kind: 'no-op', code: decided.code };
    case 'refuse':
      return { kind: 'rejected', code: decided.code };
    case 'decideAs':
      throw new Error(`runs decide nothing as ${decided.event}`);
    case 'move': {
      const to = memberOf(runStates, decided.target);
      const credit = decided.effects.includes('recordCredit') ? data.credit : undefined;
      record(draft, context, {
        entity: 'run',
        type: runFactType(event, run.state, to),
        from: run.state,
        to,
        reason: event === 'Settled' ? { code: settledReason(to) } : data.reason,
        version: run.version + 1,
        set: runSet(decided.effects, data),
        ...(credit === undefined
          ? {}
          : { credit: { gapStart: credit.gapStart, gapMs: credit.gapMs, leases: credit.leases } }),
      } satisfies Omit<RunFact, 'sequence' | 'at'>);
      return { kind: 'moved' };
    }
  }
}

function settledReason(to: RunState): ReasonCode {
  switch (to) {
    case 'Failed':
      return 'RequiredJobFailed';
    case 'Cancelled':
      return 'RequiredJobCancelled';
    default:
      return 'RequiredJobsSucceeded';
  }
}

function runFactType(event: RunEvent, from: RunState, to: RunState): RunFactType {
  if (event === 'PriorityChanged') return 'RunPriorityChanged';
  if (event === 'OutageCredited') return 'OutageCreditGranted';
  if (from === to) throw new Error(`${event} changes nothing in ${from}`);
  return factOf[to];
}

function runSet(effects: readonly string[], data: RunEventData): Partial<RunRow> {
  let set: Partial<RunRow> = {};
  for (const effect of effects) {
    if (effect === 'setIntent' && data.intent !== undefined) set = { ...set, intent: data.intent };
    else if (effect === 'setPriority' && data.priority !== undefined) set = { ...set, priority: data.priority };
    else if (effect === 'recordCredit' && data.credit !== undefined)
      set = { ...set, creditSequence: data.credit.sequence };
    else if (effect !== 'recordStart') throw new Error(`effect ${effect} has nothing to record`);
  }
  return set;
}

function runInput(draft: Draft, event: RunEvent, data: RunEventData): RunInput {
  const settles = event === 'Settled' && draft.openNodes === 0;
  return {
    jobsHeld: draft.heldJobs > 0,
    nodesOpen: draft.openNodes > 0,
    verdict: settles ? runVerdict(draft) : 'success',
    intent: draft.run.intent?.kind ?? null,
    due: data.due ?? true,
  };
}
