/** Arbitrary real inputs of every chart, for properties over the guards as they are. */
import fc from 'fast-check';
import type { AttemptInput } from '../charts/attempt.ts';
import type { GateInput } from '../charts/gate.ts';
import type { JobInput } from '../charts/job.ts';
import type { LeaseInput } from '../charts/lease.ts';
import type { RunInput } from '../charts/run.ts';
import type { ClaimInput } from '../charts/small.ts';
import { reasonCodes } from '../model/codes.ts';
import { failureClasses } from '../model/failure-class.ts';
import type { JobIntent } from '../model/rows.ts';
import type { RetryVerdict } from '../policies/retry.ts';

const yes = fc.boolean();
const intentKind = fc.constantFrom('TimedOut', 'Cancelled', 'Superseded', 'FailFast');
const intent: fc.Arbitrary<JobIntent | null> = fc.option(
  fc.record({ kind: intentKind, reason: fc.constantFrom(...reasonCodes) }),
);
const failureClass = fc.option(fc.constantFrom(...failureClasses));
const completionAfterIntent = fc.constantFrom('honor_intent', 'accept_success');
const budget = fc.constantFrom('workload', 'infrastructure', 'none');
const retry: fc.Arbitrary<RetryVerdict> = fc.oneof(
  fc.record({ retry: fc.constant(false), delayMs: fc.constant(0), budget }),
  fc.record({ retry: fc.constant(true), delayMs: fc.nat(600_000), budget }),
);

export const runInputs: fc.Arbitrary<RunInput> = fc.record({
  jobsHeld: yes,
  nodesOpen: yes,
  verdict: fc.constantFrom('success', 'failure', 'cancelled'),
  intent: fc.option(fc.constantFrom('Cancelled', 'TimedOut', 'Superseded')),
  due: yes,
});
export const jobInputs: fc.Arbitrary<JobInput> = fc.record({
  runTerminating: yes,
  intent,
  requested: fc.option(intentKind),
  due: yes,
  failureClass,
  retry,
  refusalSpends: yes,
  outputsVerified: yes,
  completionAfterIntent,
});
export const attemptInputs: fc.Arbitrary<AttemptInput> = fc.record({
  intent,
  failureClass,
  due: yes,
  outputsVerified: yes,
  completionAfterIntent,
  lateResult: yes,
});
export const leaseInputs: fc.Arbitrary<LeaseInput> = fc.record({ due: yes, outputsVerified: yes, jobHasIntent: yes });
export const gateInputs: fc.Arbitrary<GateInput> = fc.record({
  open: yes,
  due: yes,
  satisfiesOnExpiry: yes,
  runTerminating: yes,
});
export const claimInputs: fc.Arbitrary<ClaimInput> = fc.record({ tokenMatches: yes, due: yes });
