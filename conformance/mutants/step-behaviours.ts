/**
 * What single charts answer where no commit can ask them: the second line of defence behind checks that come first,
 * the renewal a store makes by itself, and the small machines of sessions, publishers, timers and effects.
 * Written from the rules, one claim a line: state, event, facts, decision.
 */
import assert from 'node:assert/strict';
import type { Chart, Charts, Step, sessionChart } from '../../machines/index.ts';
import {
  quietAttemptInput,
  quietClaimInput,
  quietGateInput,
  quietJobInput,
  quietLeaseInput,
  quietRunInput,
  step,
} from '../../machines/index.ts';

type SmallChart = typeof sessionChart;
export interface EveryChart extends Charts {
  readonly session: SmallChart;
  readonly outbox: SmallChart;
  readonly timer: SmallChart;
  readonly effect: SmallChart;
}

export interface StepBehaviour {
  readonly name: string;
  readonly chart: keyof EveryChart;
  readonly run: (charts: EveryChart) => void;
}

function describe(decided: Step): string {
  switch (decided.kind) {
    case 'move':
      return [decided.target, ...decided.effects].join(' ');
    case 'answer':
      return `answer ${decided.code}`;
    case 'refuse':
      return `refuse ${decided.code}`;
    case 'decideAs':
      return `as ${decided.event}`;
  }
}

/** One claim about one chart. */
function claims<Input>(chart: keyof EveryChart, pick: (charts: EveryChart) => Chart<Input>, quiet: Input) {
  return (state: string, event: string, facts: Partial<Input>, decision: string): StepBehaviour => ({
    name: `${chart}: ${state} x ${event} ${JSON.stringify(facts)} -> ${decision}`,
    chart,
    run: (charts) => assert.equal(describe(step(pick(charts), state, event, { ...quiet, ...facts })), decision),
  });
}

const run = claims('run', (charts) => charts.run, quietRunInput);
const job = claims('job', (charts) => charts.job, quietJobInput);
const attempt = claims('attempt', (charts) => charts.attempt, quietAttemptInput);
const lease = claims('lease', (charts) => charts.lease, quietLeaseInput);
const gate = claims('gate', (charts) => charts.gate, quietGateInput);
const session = claims('session', (charts) => charts.session, quietClaimInput);
const outbox = claims('outbox', (charts) => charts.outbox, quietClaimInput);
const timer = claims('timer', (charts) => charts.timer, quietClaimInput);
const effect = claims('effect', (charts) => charts.effect, quietClaimInput);

const terminating = { runTerminating: true };
const early = { due: false };
const foreign = { tokenMatches: false };
const unverified = { outputsVerified: false };

const secondLine: readonly StepBehaviour[] = [
  run('Queued', 'Settled', { nodesOpen: true }, 'answer NothingDue'),
  run('Running', 'Settled', { nodesOpen: true }, 'answer NothingDue'),
  run('Running', 'Started', {}, 'answer AlreadyDone'),
  run('Cancelling', 'Started', {}, 'answer AlreadyDone'),
  run('Cancelling', 'Drained', { jobsHeld: true, intent: 'Cancelled' }, 'answer NothingDue'),
  run('Queued', 'CancelRequested', { jobsHeld: true }, 'Cancelling setIntent'),
  run('Queued', 'SupersedeRequested', { jobsHeld: true }, 'Cancelling setIntent'),
  run('Queued', 'DeadlineReached', { jobsHeld: true }, 'Cancelling setIntent'),
  job('Pending', 'DependenciesSatisfied', terminating, 'refuse RunTerminating'),
  job('Pending', 'Skip', terminating, 'refuse RunTerminating'),
  job('RetryWaiting', 'RetryDue', terminating, 'refuse RunTerminating'),
  job('Eligible', 'DependenciesSatisfied', {}, 'answer AlreadyDone'),
  job('Eligible', 'Skip', terminating, 'refuse RunTerminating'),
  job('Eligible', 'CacheHit', terminating, 'refuse RunTerminating'),
  job('Eligible', 'CacheHit', unverified, 'refuse OutputsUnverified'),
  job('Eligible', 'LeaseGranted', terminating, 'refuse RunTerminating'),
  job('Lost', 'LostResolved', terminating, 'refuse RunTerminating'),
  ...['WorkStarted', 'WorkFinished', 'AttemptSucceeded', 'AttemptFailed', 'TerminationConfirmed'].map((event) =>
    attempt('Leased', event, {}, 'refuse OutOfOrder'),
  ),
  attempt('Leased', 'OfferExpired', early, 'answer NotDue'),
  attempt('Preparing', 'PreparationStarted', {}, 'answer AlreadyDone'),
  attempt('Preparing', 'WorkFinished', {}, 'refuse OutOfOrder'),
  attempt('Preparing', 'AttemptSucceeded', {}, 'refuse OutOfOrder'),
  attempt('Running', 'PreparationStarted', {}, 'answer AlreadyDone'),
  attempt('Running', 'WorkStarted', {}, 'answer AlreadyDone'),
  attempt('Running', 'AttemptSucceeded', {}, 'refuse OutOfOrder'),
  attempt('UploadingOutputs', 'PreparationStarted', {}, 'answer AlreadyDone'),
  attempt('UploadingOutputs', 'WorkStarted', {}, 'answer AlreadyDone'),
  attempt('UploadingOutputs', 'WorkFinished', {}, 'answer AlreadyDone'),
  attempt('UploadingOutputs', 'AttemptSucceeded', unverified, 'refuse OutputsUnverified'),
  ...['Preparing', 'Running', 'UploadingOutputs'].flatMap((phase) => [
    attempt(phase, 'TerminationConfirmed', {}, 'refuse NoTerminationRequested'),
    attempt(phase, 'LeaseExpired', early, 'answer NotDue'),
  ]),
  lease('Offered', 'PreparationStarted', {}, 'refuse LeaseExpired'),
  lease('Offered', 'OfferExpired', early, 'answer NotDue'),
  lease('Offered', 'AttemptSucceeded', {}, 'refuse OutOfOrder'),
  lease('Offered', 'AttemptFailed', {}, 'refuse OutOfOrder'),
  lease('Offered', 'TerminationConfirmed', {}, 'refuse OutOfOrder'),
  lease('Held', 'PreparationStarted', {}, 'answer AlreadyDone'),
  lease('Held', 'AttemptSucceeded', unverified, 'refuse OutputsUnverified'),
  lease('Held', 'TerminationConfirmed', {}, 'refuse NoTerminationRequested'),
  lease('Held', 'LeaseExpired', early, 'answer NotDue'),
  lease('Held', 'Renewed', early, 'Held extend'),
  lease('Held', 'Renewed', {}, 'refuse LeaseExpired'),
  gate('Pending', 'PrerequisitesSatisfied', { ...terminating, open: false }, 'refuse RunTerminating'),
  gate('Pending', 'PrerequisitesSatisfied', {}, 'answer AlreadyDone'),
  gate('Pending', 'PrerequisiteUnmet', terminating, 'refuse RunTerminating'),
];

const smallMachines: readonly StepBehaviour[] = [
  ...['Active', 'Draining'].flatMap((state) => [
    session(state, 'SessionClosed', {}, 'Closed revokeOffers expireHeld'),
    session(state, 'SessionReplaced', {}, 'Replaced revokeOffers'),
  ]),
  session('Active', 'DrainRequested', {}, 'Draining revokeOffers'),
  session('Draining', 'DrainRequested', {}, 'answer AlreadyDone'),
  session('Closed', 'SessionClosed', {}, 'answer AlreadyDone'),
  session('Closed', 'SessionReplaced', {}, 'refuse AlreadyTerminal'),
  session('Replaced', 'SessionReplaced', {}, 'answer AlreadyDone'),
  session('Replaced', 'SessionClosed', {}, 'refuse AlreadyTerminal'),
  outbox('Pending', 'Claimed', {}, 'Publishing takeClaim'),
  outbox('Publishing', 'Claimed', {}, 'refuse IllegalTransition'),
  outbox('Publishing', 'Delivered', {}, 'Delivered dropClaim'),
  outbox('Publishing', 'Delivered', foreign, 'refuse Stale'),
  outbox('Publishing', 'PublishFailed', {}, 'Failed dropClaim scheduleAttempt'),
  outbox('Publishing', 'PublishFailed', foreign, 'refuse Stale'),
  outbox('Publishing', 'ClaimExpired', {}, 'Pending dropClaim'),
  outbox('Publishing', 'ClaimExpired', early, 'answer NotDue'),
  outbox('Failed', 'Claimed', {}, 'Publishing takeClaim'),
  outbox('Failed', 'Claimed', early, 'answer NotDue'),
  outbox('Delivered', 'Claimed', {}, 'refuse AlreadyTerminal'),
  timer('Pending', 'Claimed', {}, 'Claimed takeClaim'),
  timer('Pending', 'Claimed', early, 'answer NotDue'),
  timer('Pending', 'Cancelled', {}, 'Cancelled'),
  timer('Pending', 'Moved', {}, 'Pending setDueAt'),
  timer('Claimed', 'Fired', {}, 'Fired dropClaim'),
  timer('Claimed', 'Fired', foreign, 'refuse Stale'),
  timer('Claimed', 'ClaimExpired', {}, 'Pending dropClaim'),
  timer('Claimed', 'ClaimExpired', early, 'answer NotDue'),
  timer('Claimed', 'Cancelled', {}, 'Cancelled dropClaim'),
  timer('Claimed', 'Moved', {}, 'Pending dropClaim setDueAt'),
  timer('Fired', 'Moved', {}, 'Pending setDueAt'),
  timer('Cancelled', 'Moved', {}, 'Pending setDueAt'),
  effect('Pending', 'Started', {}, 'InProgress takeClaim'),
  effect('InProgress', 'Started', {}, 'refuse IllegalTransition'),
  effect('InProgress', 'ReportedSuccess', {}, 'Succeeded dropClaim'),
  effect('InProgress', 'ReportedSuccess', foreign, 'refuse Stale'),
  effect('InProgress', 'ReportedFailure', {}, 'Failed dropClaim'),
  effect('InProgress', 'ReportedFailure', foreign, 'refuse Stale'),
  effect('InProgress', 'OutcomeUnknown', {}, 'Unknown dropClaim'),
  effect('Unknown', 'Started', {}, 'refuse IllegalTransition'),
  effect('Unknown', 'FoundDone', {}, 'Succeeded'),
  effect('Unknown', 'FoundFailed', {}, 'Failed'),
  effect('Unknown', 'FoundAbsent', {}, 'Pending'),
];

export const stepBehaviours: readonly StepBehaviour[] = [...secondLine, ...smallMachines];
