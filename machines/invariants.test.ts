import { describe, expect, test } from 'vitest';
import type { Phase, World } from '../conformance/core/index.ts';
import { bringTo, cancelJob, cancelRun, createWorld, failing, planFor, succeed } from '../conformance/core/index.ts';
import type { JobInvariant } from './invariants.ts';
import { checkLeases, checkRun, jobInvariants, runInvariants } from './invariants.ts';
import type { AttemptRow, JobRow, LeaseRow, RunRow } from './model/rows.ts';
import { job } from './plan/builder.ts';

function inPhase(phase: Phase): World {
  const world = createWorld(planFor([job('a'), job('b')]));
  bringTo(world, 'a', phase);
  return world;
}

interface Damage {
  readonly job?: Partial<JobRow>;
  readonly attempt?: Partial<AttemptRow>;
  readonly lease?: Partial<LeaseRow>;
}

function damaged(world: World, { job: row, attempt, lease }: Damage): readonly string[] {
  const { state } = world;
  const [oneAttempt] = state.attempts.values();
  const [oneLease] = state.leases.values();
  if (attempt !== undefined && oneAttempt !== undefined) state.putAttempt({ ...oneAttempt, ...attempt });
  if (lease !== undefined && oneLease !== undefined) state.putLease({ ...oneLease, ...lease });
  if (row !== undefined) state.putNode({ ...state.job(0), ...row });
  return checkRun(state, state.nodes);
}

const other = '00000000-0000-7000-8000-0000000000ff';
const wrongId = <Id>(): Id => other as Id;

/** Each breaks what it names; the numbers are those of the requirement the invariant states. */
const jobDamage: readonly (readonly [JobInvariant, string, () => World, Damage])[] = [
  ['activeHasAttemptAndLease', 'running without a lease', () => inPhase('Running'), { job: { currentLease: null } }],
  ['activeHasAttemptAndLease', 'waiting with an attempt', () => inPhase('Running'), { job: { state: 'Eligible' } }],
  ['leaseMatchesPhase', 'running on an offer', () => inPhase('Running'), { lease: { state: 'Offered' } }],
  ['leaseMatchesPhase', 'leased on a held lease', () => inPhase('Leased'), { lease: { state: 'Held' } }],
  [
    'leaseBindsCurrentAttempt',
    'the lease of another attempt',
    () => inPhase('Running'),
    { lease: { attemptId: wrongId() } },
  ],
  ['leaseBindsCurrentAttempt', 'an old epoch', () => inPhase('Running'), { lease: { epoch: 7 } }],
  ['attemptMatchesPhase', 'an attempt that has ended', () => inPhase('Running'), { attempt: { state: 'Failed' } }],
  ['attemptMatchesPhase', 'an attempt of another number', () => inPhase('Running'), { attempt: { number: 2 } }],
  [
    'attemptBoundToSpec',
    'an attempt bound to another spec',
    () => inPhase('Running'),
    { attempt: { specDigest: wrongId() } },
  ],
  ['attemptBoundToSpec', 'an attempt of another job', () => inPhase('Running'), { attempt: { jobId: wrongId() } }],
  ['succeededHasSource', 'a success from nowhere', () => ended(), { job: { executionSource: null } }],
  [
    'endedHoldsNoLease',
    'an ended job with a lease',
    () => inPhase('Running'),
    { job: { state: 'Cancelled', finishedAt: 1 } },
  ],
  ['endedHasFinish', 'an end without a time', () => ended(), { job: { finishedAt: null } }],
  ['skippedSaysWhether', 'a skip that says nothing', () => ended(), { job: { state: 'Skipped' } }],
  ['heldIntentHasBound', 'an intent without a bound', () => stopping(), { job: { terminateBy: null } }],
  ['heldIntentHasBound', 'a bound without an intent', () => inPhase('Running'), { job: { terminateBy: 5 } }],
  ['retryHasTime', 'a retry without a time', () => retrying(), { job: { retryNotBefore: null } }],
  ['epochEqualsAttempts', 'more epochs than attempts', () => inPhase('Running'), { job: { leaseEpoch: 9 } }],
];

function ended(): World {
  const world = createWorld(planFor([job('a'), job('b')]));
  succeed(world, 'a');
  return world;
}
function stopping(): World {
  const world = inPhase('Running');
  world.submit(cancelJob(world, 'a'));
  return world;
}
function retrying(): World {
  const world = createWorld(planFor([job('a', { retry: { backoff: '5s' } }), job('b')]));
  failing(world, 'a', 'Infrastructure');
  return world;
}

describe('invariants', () => {
  for (const [name, what, make, damage] of jobDamage) {
    test(`${name}: ${what} is noticed`, () => {
      const world = make();
      expect(checkRun(world.state, world.state.nodes)).toEqual([]);
      expect(damaged(world, damage)).toContain(`${name}: a`);
    });
  }

  test('every job invariant is broken by a case above', () => {
    expect([...new Set(jobDamage.map(([name]) => name))].sort()).toEqual(Object.keys(jobInvariants).sort());
  });

  const intent = { kind: 'Cancelled', requestedAt: 1, supersededBy: null } as const;
  const runDamage: readonly (readonly [keyof typeof runInvariants, () => World, Partial<RunRow>])[] = [
    ['terminalHasNoOpenNode', () => inPhase('Running'), { state: 'Failed', finishedAt: 1 }],
    ['settledIsTerminal', () => finished(), { state: 'Running', finishedAt: null }],
    ['cancellingHasIntent', () => inPhase('Running'), { state: 'Cancelling' }],
    ['cancellingHasIntent', () => inPhase('Running'), { intent }],
    ['intentLeavesNothingWaiting', () => inPhase('Running'), { state: 'Cancelling', intent }],
    ['timedOutHadIntent', () => cancelled(), { state: 'TimedOut' }],
    ['supersededHadIntent', () => cancelled(), { intent: { ...intent, kind: 'Superseded' } }],
    ['terminalHasFinish', () => finished(), { finishedAt: null }],
  ];
  function finished(): World {
    const world = ended();
    succeed(world, 'b');
    return world;
  }
  function cancelled(): World {
    const world = createWorld(planFor([job('a')]));
    world.submit(cancelRun);
    return world;
  }

  for (const [name, make, damage] of runDamage) {
    test(`${name}: a run that is ${JSON.stringify(damage)} is noticed`, () => {
      const { state } = make();
      expect(checkRun(state, state.nodes)).toEqual([]);
      state.putRun({ ...state.run, ...damage });
      expect(checkRun(state, state.nodes)).toContain(`${name}: run`);
    });
  }

  test('every run invariant is broken by a case above', () => {
    expect([...new Set(runDamage.map(([name]) => name))].sort()).toEqual(Object.keys(runInvariants).sort());
  });

  test('000 §376.18: a run that succeeded over a required failure is noticed', () => {
    const { state } = finished();
    state.putNode({ ...state.job(0), state: 'Failed' });
    expect(checkRun(state, state.nodes)).toContain('succeededHasNoBlockingEnd: a');
  });

  test('000 §375.5: a second live lease, and a live lease of an ended attempt, are noticed', () => {
    const { state } = inPhase('Running');
    const [lease] = state.leases.values();
    const [attempt] = state.attempts.values();
    if (lease === undefined || attempt === undefined) throw new Error('a running job has both');
    expect(checkLeases(state, [lease])).toEqual([]);
    expect(checkLeases(state, [lease, { ...lease, id: wrongId() }])).toEqual([`liveLeaseIsCurrent: ${other}`]);
    expect(checkLeases(state, [{ ...lease, id: wrongId(), state: 'Expired' }])).toEqual([]);
    state.putAttempt({ ...attempt, state: 'Lost' });
    expect(checkLeases(state, [lease])).toEqual([`liveLeaseHasLiveAttempt: ${lease.id}`]);
  });
});
