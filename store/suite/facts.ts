/** Facts of a hand-made change: one per row whose state differs. */
import type { Fact, GateFact, JobFact, JobRow, LeaseFact, Reason, RunFact, Timestamp } from '../../machines/index.ts';
import type { Change, RunRows } from './change.ts';

const runFacts: Readonly<Record<string, RunFact['type']>> = {
  Running: 'RunStarted',
  Cancelling: 'RunCancelling',
  Succeeded: 'RunSucceeded',
  Failed: 'RunFailed',
  Cancelled: 'RunCancelled',
  TimedOut: 'RunTimedOut',
  Superseded: 'RunSuperseded',
};
const jobFacts: Readonly<Record<JobRow['state'], JobFact['type']>> = {
  Pending: 'JobReturnedToQueue',
  RetryWaiting: 'JobRetryScheduled',
  Eligible: 'JobReturnedToQueue',
  Leased: 'JobLeased',
  Preparing: 'JobPreparing',
  Running: 'JobStarted',
  UploadingOutputs: 'JobUploadingOutputs',
  Lost: 'JobLost',
  Succeeded: 'JobSucceeded',
  Failed: 'JobFailed',
  Cancelled: 'JobCancelled',
  TimedOut: 'JobTimedOut',
  Skipped: 'JobSkipped',
};
const leaseFacts: Readonly<Record<string, LeaseFact['type']>> = {
  Offered: 'LeaseGranted',
  Held: 'LeaseAccepted',
  Released: 'LeaseReleased',
  Expired: 'LeaseExpired',
  Rejected: 'LeaseRejected',
  Revoked: 'LeaseRevoked',
};
const gateFacts: Readonly<Record<string, GateFact['type']>> = {
  Pending: 'GateOpened',
  Satisfied: 'GateSatisfied',
  Rejected: 'GateRejected',
  Cancelled: 'GateCancelled',
};

type Unnumbered<F extends Fact> = F extends Fact ? Omit<F, 'sequence'> : never;

export function factsBetween(
  rows: RunRows,
  change: Change,
  common: { readonly at: Timestamp; readonly reason: Reason },
): readonly Fact[] {
  const facts = [
    ...jobFactsOf(rows, change, common),
    ...attemptFactsOf(rows, change, common),
    ...leaseFactsOf(rows, change, common),
  ];
  facts.push(...gateFactsOf(rows, change, common), ...runFactsOf(rows, change, common));
  return facts.map((fact, place): Fact => ({ ...fact, sequence: rows.run.sequence + place + 1 }));
}

type Common = Parameters<typeof factsBetween>[2];

function jobFactsOf(rows: RunRows, { jobs = [] }: Change, common: Common): Unnumbered<Fact>[] {
  return jobs.flatMap((job): Unnumbered<Fact>[] => {
    const old = rows.nodes[job.index];
    if (old?.kind !== 'job' || old.state === job.state) return [];
    const { id, index, state, version } = job;
    return [
      { ...common, entity: 'job', type: jobFacts[state], id, index, from: old.state, to: state, version, set: {} },
    ];
  });
}

function attemptFactsOf(rows: RunRows, { attempts = [] }: Change, common: Common): Unnumbered<Fact>[] {
  return attempts.flatMap((attempt): Unnumbered<Fact>[] => {
    const old = rows.attempts.get(attempt.id);
    if (old !== undefined && attempt.finishedAt === null) return [];
    const { id, jobIndex: index, state, version } = attempt;
    const type =
      old === undefined ? 'AttemptCreated' : old.finishedAt === null ? 'AttemptEnded' : 'LateAttemptResultRejected';
    return [{ ...common, entity: 'attempt', type, id, index, from: old?.state ?? null, to: state, version, set: {} }];
  });
}

function leaseFactsOf(rows: RunRows, { leases = [] }: Change, common: Common): Unnumbered<Fact>[] {
  return leases.flatMap((lease): Unnumbered<Fact>[] => {
    const old = rows.leases.get(lease.id);
    if (old?.state === lease.state) return [];
    const { id, jobIndex: index, state, version } = lease;
    const type = leaseFacts[state] ?? 'LeaseGranted';
    return [{ ...common, entity: 'lease', type, id, index, from: old?.state ?? null, to: state, version, set: {} }];
  });
}

function gateFactsOf(rows: RunRows, { gates = [] }: Change, common: Common): Unnumbered<Fact>[] {
  return gates.flatMap((gate): Unnumbered<Fact>[] => {
    const old = rows.nodes[gate.index];
    if (old?.kind !== 'gate') return [];
    const { id, index, state, version } = gate;
    const type = gateFacts[state] ?? 'GateOpened';
    return [{ ...common, entity: 'gate', type, id, index, from: old.state, to: state, version, set: {} }];
  });
}

function runFactsOf({ run: old }: RunRows, { run = {} }: Change, common: Common): Unnumbered<Fact>[] {
  const priorityChanged = run.priority !== undefined && run.priority !== old.priority;
  const to = run.state ?? old.state;
  if (to === old.state && !priorityChanged) return [];
  const type = priorityChanged ? 'RunPriorityChanged' : (runFacts[to] ?? 'RunStarted');
  return [{ ...common, entity: 'run', type, from: old.state, to, version: run.version ?? old.version, set: {} }];
}
