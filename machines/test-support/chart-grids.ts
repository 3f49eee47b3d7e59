/**
 * Every kind of real input of every chart: the facts of the expected transitions, each with all its values. The fact
 * names are those of `expected-transitions/`; a combination that no commit can bring about is left out.
 */

import type { AttemptInput } from '../charts/attempt.ts';
import { attemptChart, quietAttemptInput } from '../charts/attempt.ts';
import type { Chart } from '../charts/chart.ts';
import { step } from '../charts/chart.ts';
import type { ChartName } from '../charts/charts.ts';
import { gateChart, quietGateInput } from '../charts/gate.ts';
import type { JobInput } from '../charts/job.ts';
import { jobChart, quietJobInput } from '../charts/job.ts';
import { leaseChart, quietLeaseInput } from '../charts/lease.ts';
import { quietRunInput, runChart } from '../charts/run.ts';
import { effectChart, outboxChart, quietClaimInput, sessionChart, timerChart } from '../charts/small.ts';
import { describeStep } from './describe-step.ts';

type Facts = Readonly<Record<string, string>>;
type Dimensions<Input> = Readonly<Record<string, Readonly<Record<string, Partial<Input>>>>>;

/** One class of inputs: its facts, and what a table decides for it. */
export interface InputClass {
  readonly facts: Facts;
  readonly decide: (state: string, event: string, table?: Chart<never>['table']) => string;
}

export interface Grid {
  readonly facts: Readonly<Record<string, readonly string[]>>;
  readonly classes: readonly InputClass[];
}

function grid<Input>(
  chart: Chart<Input>,
  quiet: Input,
  dimensions: Dimensions<Input>,
  possible: (input: Input) => boolean = () => true,
): Grid {
  let inputs: readonly { readonly facts: Facts; readonly input: Input }[] = [{ facts: {}, input: quiet }];
  for (const [fact, values] of Object.entries(dimensions)) {
    inputs = inputs.flatMap(({ facts, input }) =>
      Object.entries(values).map(([value, patch]) => ({
        facts: { ...facts, [fact]: value },
        input: { ...input, ...patch },
      })),
    );
  }
  return {
    facts: Object.fromEntries(Object.entries(dimensions).map(([fact, values]) => [fact, Object.keys(values)])),
    classes: inputs
      .filter(({ input }) => possible(input))
      .map(({ facts, input }) => ({
        facts,
        decide: (state, event, table = chart.table) => describeStep(step({ ...chart, table }, state, event, input)),
      })),
  };
}

const due = { yes: { due: true }, no: { due: false } };
const outputs = { verified: { outputsVerified: true }, unverified: { outputsVerified: false } };
const afterIntent = {
  honor: { completionAfterIntent: 'honor_intent' },
  accept: { completionAfterIntent: 'accept_success' },
} as const;
const run = { going: { runTerminating: false }, terminating: { runTerminating: true } };
const intent = {
  none: { intent: null },
  TimedOut: { intent: { kind: 'TimedOut', reason: 'ExecutionTimeout' } },
  Cancelled: { intent: { kind: 'Cancelled', reason: 'OperatorCancelled' } },
  Superseded: { intent: { kind: 'Superseded', reason: 'Superseded' } },
  FailFast: { intent: { kind: 'FailFast', reason: 'FailFast' } },
} as const;
const failureClass = {
  none: { failureClass: null },
  workload: { failureClass: 'UserCommand' },
  Timeout: { failureClass: 'Timeout' },
  infrastructure: { failureClass: 'Infrastructure' },
  Cancelled: { failureClass: 'Cancelled' },
} as const;

/** Whoever fills the input judges an end under a TimedOut intent as a Timeout. */
const judgedAsIntended = (input: Pick<JobInput | AttemptInput, 'intent' | 'failureClass'>): boolean =>
  input.intent?.kind !== 'TimedOut' || input.failureClass === 'Timeout';

const claim = { token: { own: { tokenMatches: true }, foreign: { tokenMatches: false } }, due };

export const grids: Readonly<Record<ChartName, Grid>> = {
  run: grid(runChart, quietRunInput, {
    work: { none: { jobsHeld: false }, some: { jobsHeld: true } },
    nodes: { ended: { nodesOpen: false }, open: { nodesOpen: true } },
    verdict: { success: { verdict: 'success' }, failure: { verdict: 'failure' }, cancelled: { verdict: 'cancelled' } },
    intent: {
      Cancelled: { intent: 'Cancelled' },
      TimedOut: { intent: 'TimedOut' },
      Superseded: { intent: 'Superseded' },
    },
    due,
  }),
  job: grid(
    jobChart,
    quietJobInput,
    {
      run,
      intent,
      asked: {
        TimedOut: { requested: 'TimedOut' },
        Cancelled: { requested: 'Cancelled' },
        Superseded: { requested: 'Superseded' },
        FailFast: { requested: 'FailFast' },
      },
      due,
      class: failureClass,
      retry: {
        no: { retry: { retry: false, delayMs: 0, budget: 'workload' } },
        now: { retry: { retry: true, delayMs: 0, budget: 'workload' } },
        later: { retry: { retry: true, delayMs: 1, budget: 'infrastructure' } },
      },
      refusals: { few: { refusalSpends: false }, spent: { refusalSpends: true } },
      outputs,
      afterIntent,
    },
    judgedAsIntended,
  ),
  attempt: grid(
    attemptChart,
    quietAttemptInput,
    {
      intent,
      class: failureClass,
      due,
      outputs,
      afterIntent,
      late: { none: { lateResult: false }, known: { lateResult: true } },
    },
    judgedAsIntended,
  ),
  lease: grid(leaseChart, quietLeaseInput, {
    due,
    outputs,
    intent: { none: { jobHasIntent: false }, some: { jobHasIntent: true } },
  }),
  gate: grid(gateChart, quietGateInput, {
    gate: { shut: { open: false }, open: { open: true } },
    due,
    onExpiry: { reject: { satisfiesOnExpiry: false }, satisfy: { satisfiesOnExpiry: true } },
    run,
  }),
  session: grid(sessionChart, quietClaimInput, claim),
  outbox: grid(outboxChart, quietClaimInput, claim),
  timer: grid(timerChart, quietClaimInput, claim),
  effect: grid(effectChart, quietClaimInput, claim),
};
