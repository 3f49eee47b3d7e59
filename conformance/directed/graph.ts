import assert from 'node:assert/strict';
import { gate, job } from '../../machines/plan/index.ts';
import type { World } from '../core/index.ts';
import {
  bringTo,
  cancelJob,
  decideGate,
  expireLease,
  failing,
  gateOf,
  jobOf,
  leaseOf,
  oneOutput,
  placeOf,
  say,
  skipJob,
  succeed,
} from '../core/index.ts';
import { behaviour, expectAnswer, expectUntouched, factsOf } from './behaviour.ts';

const stateOf = (world: World, node: string) => {
  const row = world.state.node(placeOf(world, node));
  return `${row.state}:${row.reason?.code}`;
};
const states = (world: World, ...nodes: readonly string[]) => nodes.map((node) => stateOf(world, node));

/** What the end of a node means for the others (000 §74-88, §154-160). */
export const graph = [
  behaviour('000 §375.2: creation: what waits for nothing is Eligible, the rest is Pending', (world) => {
    const w = world([
      job('a', { timeouts: { queue: '1m' } }),
      job('b', { needs: ['a'] }),
      gate('g'),
      gate('h', { needs: ['b'] }),
    ]);
    assert.deepEqual(
      w.created.facts.map(({ type, reason }) => `${type}:${reason.code}`),
      ['RunCreated:RunRequested', 'JobEligible:NoDependencies', 'GateOpened:GateReady'],
    );
    assert.deepEqual(states(w, 'a', 'b', 'g'), ['Eligible:NoDependencies', 'Pending:undefined', 'Pending:GateReady']);
    assert.deepEqual([jobOf(w, 'a').queueDeadlineAt, gateOf(w, 'h').openedAt], [w.now + 60_000, null]);
    assert.equal(w.state.run.state, 'Queued');
    assert.equal(w.state.run.version, 1);
    succeed(w, 'a');
    assert.equal(stateOf(w, 'b'), 'Eligible:DependenciesSatisfied');
    expectUntouched(w, () => w.submit({ type: 'JudgeNodes', nodes: [0, 1, 2, 3, -1, 4, 0.5] }), 'no-op NothingDue');
  }),
  behaviour('creation: a false condition skips a job from the start and says why', (world) => {
    const no = (reason: 'ConditionFalse' | 'PlanPruned' | 'Policy') => ({ holds: false, reason, message: 'because' });
    const w = world([
      job('a', { condition: no('ConditionFalse') }),
      job('b', { condition: no('PlanPruned') }),
      job('c', { condition: no('Policy') }),
      job('d', { needs: ['a', 'b'] }),
      job('e', { needs: ['c'] }),
    ]);
    assert.deepEqual(states(w, 'a', 'b', 'c'), ['Skipped:ConditionFalse', 'Skipped:PlanPruned', 'Skipped:Policy']);
    assert.equal(jobOf(w, 'a').reason?.message, 'because');
    assert.deepEqual(
      ['a', 'b', 'c'].map((node) => jobOf(w, node).satisfies),
      [true, true, false],
    );
    assert.deepEqual(states(w, 'd', 'e'), ['Eligible:DependenciesSatisfied', 'Skipped:Policy']);
    assert.equal(jobOf(w, 'e').reason?.root, 'c');
    succeed(w, 'd');
    assert.equal(w.state.run.state, 'Failed');
  }),
  behaviour('creation: a run of nothing but skipped jobs settles at once, straight from Queued', (world) => {
    const w = world([job('a', { condition: false }), job('b', { condition: { holds: false, reason: 'PlanPruned' } })]);
    assert.equal(w.created.facts.at(-1)?.type, 'RunSucceeded');
    assert.deepEqual([w.state.run.state, w.state.run.startedAt, w.state.run.finishedAt], ['Succeeded', null, w.now]);
    const policy = world([job('a', { condition: { holds: false, reason: 'Policy' } })]);
    assert.deepEqual([policy.state.run.state, policy.state.run.reason?.code], ['Failed', 'RequiredJobFailed']);
  }),
  behaviour('a queued run may end without having started: cache hits, queue timeouts', (world) => {
    const w = world([job('a')]);
    w.submit({ type: 'ResolveCacheHit', job: jobOf(w, 'a').id, outputs: [oneOutput] });
    assert.deepEqual([w.state.run.state, w.state.run.startedAt], ['Succeeded', null]);
    const queued = world([job('a', { timeouts: { queue: '1m' } })]);
    queued.now += 60_000;
    queued.submit({ type: 'ReachQueueTimeout', job: jobOf(queued, 'a').id });
    assert.deepEqual([queued.state.run.state, queued.state.run.startedAt], ['Failed', null]);
  }),
  behaviour('000 §375.23: a required failure skips what depends on it, step by step, naming the root', (world) => {
    const w = world([job('a'), job('b', { needs: ['a'] }), job('c', { needs: ['b'] }), gate('g', { needs: ['c'] })]);
    const decision = failing(w, 'a');
    assert.deepEqual(factsOf(decision).slice(-2), ['JobFailed:UserCommand', 'JobSkipped:UpstreamFailed']);
    assert.deepEqual(states(w, 'b', 'c', 'g'), ['Skipped:UpstreamFailed', 'Pending:undefined', 'Pending:undefined']);
    w.followUp();
    assert.deepEqual(states(w, 'b', 'c', 'g'), [
      'Skipped:UpstreamFailed',
      'Skipped:UpstreamFailed',
      'Cancelled:UpstreamFailed',
    ]);
    assert.deepEqual(
      [jobOf(w, 'c').reason?.root, gateOf(w, 'g').reason?.root, jobOf(w, 'c').satisfies],
      ['a', 'a', false],
    );
    assert.equal(w.state.run.state, 'Failed');
  }),
  behaviour('a required failure leaves the run Running until the rest has finished', (world) => {
    const w = world([job('a'), job('b')]);
    failing(w, 'a');
    assert.equal(w.state.run.state, 'Running');
    succeed(w, 'b');
    assert.equal(w.state.run.state, 'Failed');
  }),
  behaviour('000 §375.24: a failure that is allowed satisfies dependents and does not fail the run', (world) => {
    const w = world([job('a', { failureImpact: 'allowed' }), job('b', { needs: ['a'] })]);
    failing(w, 'a');
    assert.equal(stateOf(w, 'b'), 'Eligible:DependenciesSatisfied');
    succeed(w, 'b');
    assert.equal(w.state.run.state, 'Succeeded');
  }),
  behaviour('an optional job does not decide the run, but the run waits for it', (world) => {
    const w = world([job('a', { required: false }), job('b')]);
    succeed(w, 'b');
    assert.equal(w.state.run.state, 'Running');
    failing(w, 'a');
    assert.equal(w.state.run.state, 'Succeeded');
  }),
  behaviour('a required job below an optional failure fails the run', (world) => {
    const w = world([job('a', { required: false }), job('b', { needs: ['a'] })]);
    failing(w, 'a');
    assert.deepEqual([stateOf(w, 'b'), w.state.run.state], ['Skipped:UpstreamFailed', 'Failed']);
  }),
  behaviour(
    '000 §376.18: an operator’s cancel of a required job cancels the run, a failure beside it fails it',
    (world) => {
      const w = world([job('a'), job('b', { needs: ['a'] })]);
      w.submit(cancelJob(w, 'a'));
      w.followUp();
      assert.deepEqual([stateOf(w, 'b'), jobOf(w, 'b').reason?.root], ['Skipped:UpstreamCancelled', 'a']);
      assert.deepEqual(
        [w.state.run.state, w.state.run.reason?.code, w.state.run.intent],
        ['Cancelled', 'RequiredJobCancelled', null],
      );
      const both = world([job('a'), job('b')]);
      both.submit(cancelJob(both, 'a'));
      failing(both, 'b');
      assert.equal(both.state.run.state, 'Failed');
    },
  ),
  behaviour('failure edges run a handler when one of them qualifies, and only when all have ended', (world) => {
    const nodes = [
      job('a'),
      job('b'),
      job('rescue', {
        needs: [
          { job: 'a', condition: 'failure' },
          { job: 'b', condition: 'failure' },
        ],
      }),
    ];
    const w = world(nodes);
    failing(w, 'a');
    assert.equal(stateOf(w, 'rescue'), 'Pending:undefined');
    succeed(w, 'b');
    assert.equal(stateOf(w, 'rescue'), 'Eligible:DependenciesSatisfied');
    succeed(w, 'rescue');
    assert.equal(w.state.run.state, 'Failed');
    const fine = world(nodes);
    succeed(fine, 'a');
    succeed(fine, 'b');
    assert.deepEqual([stateOf(fine, 'rescue'), fine.state.run.state], ['Skipped:ConditionNotMet', 'Succeeded']);
    assert.equal(jobOf(fine, 'rescue').satisfies, true);
  }),
  behaviour('a fan-out larger than one commit may judge is finished by follow-ups', (world) => {
    const wide = ['b', 'c', 'd', 'e', 'f'].map((name) => job(name, { needs: ['a'] }));
    for (const [max, judged] of [
      [5, 5],
      [4, 4],
      [1, 1],
    ] as const) {
      const w = world([job('a'), ...wide], {}, { limits: { inlineDependentsMax: max } });
      const decision = succeed(w, 'a');
      const eligible = () => w.state.nodes.filter((row) => row.state === 'Eligible').length;
      assert.equal(eligible(), judged);
      const left = decision.outcome === 'accepted' ? decision.changes.judge : [];
      assert.deepEqual(left, [1, 2, 3, 4, 5].slice(max));
      w.followUp();
      assert.equal(eligible(), 5);
    }
  }),
  behaviour('000 §375.25: a failure cancels its siblings where the matrix says so, and nobody else', (world) => {
    for (const failFast of [true, false]) {
      const w = world([
        job('m', { matrix: { axes: { os: ['x', 'y', 'z'] }, failFast } }),
        job('other'),
        job('after', { needs: ['m'] }),
        job('rescue', { needs: [{ job: 'm', condition: 'failure' }] }),
      ]);
      const children = ['m[os=x]', 'm[os=y]', 'm[os=z]'];
      bringTo(w, 'm[os=y]', 'Running', 'bob');
      bringTo(w, 'm[os=z]', 'Leased', 'cid');
      failing(w, 'm[os=x]');
      w.followUp();
      if (!failFast) {
        assert.deepEqual(
          children.map((node) => jobOf(w, node).state),
          ['Failed', 'Running', 'Leased'],
        );
        continue;
      }
      assert.deepEqual(jobOf(w, 'm[os=y]').intent, { kind: 'FailFast', reason: 'FailFast' });
      assert.deepEqual(states(w, 'm[os=z]', 'after', 'rescue', 'other'), [
        'Cancelled:FailFast',
        'Skipped:UpstreamFailed',
        'Pending:undefined',
        'Eligible:NoDependencies',
      ]);
      say(w, 'stopped', 'm[os=y]');
      assert.deepEqual(states(w, 'm[os=y]', 'rescue'), ['Cancelled:FailFast', 'Eligible:DependenciesSatisfied']);
      succeed(w, 'rescue');
      succeed(w, 'other');
      assert.deepEqual([w.state.run.state, w.state.run.intent], ['Failed', null]);
    }
  }),
  behaviour('fail-fast comes with the final failure only, not with one that is retried', (world) => {
    const retry = { attempts: 2, on: ['UserCommand' as const] };
    const w = world([job('a', { retry }), job('b')], { failFast: true });
    failing(w, 'a');
    assert.equal(stateOf(w, 'b'), 'Eligible:NoDependencies');
    failing(w, 'a');
    assert.equal(stateOf(w, 'b'), 'Cancelled:FailFast');
    assert.equal(w.state.run.state, 'Failed');
  }),
  behaviour('fail-fast of the run: optional and allowed failures do not set it off', (world) => {
    const w = world([job('a', { required: false }), job('b', { failureImpact: 'allowed' }), job('c'), job('d')], {
      failFast: true,
    });
    failing(w, 'a');
    failing(w, 'b');
    assert.equal(stateOf(w, 'c'), 'Eligible:NoDependencies');
    failing(w, 'c');
    assert.equal(stateOf(w, 'd'), 'Cancelled:FailFast');
  }),
  behaviour('fail-fast of the run: handlers and what depends on them go on, gates for nobody end', (world) => {
    const w = world(
      [
        job('a'),
        job('b'),
        job('lost', { retry: { backoff: '5s' } }),
        job('clean', { needs: [{ job: 'b', condition: 'always' }] }),
        job('report', { needs: ['clean'] }),
        job('deploy', { needs: ['b', 'ok'] }),
        gate('ok'),
        gate('sign'),
        gate('hold', { needs: ['clean'] }),
      ],
      { failFast: true },
    );
    failing(w, 'lost', 'Infrastructure');
    bringTo(w, 'b', 'Running', 'bob');
    const decision = failing(w, 'a');
    assert.deepEqual(factsOf(decision).slice(3), [
      'JobTerminationRequested:FailFast',
      'JobCancelled:FailFast',
      'JobCancelled:FailFast',
      'GateCancelled:FailFast',
      'GateCancelled:FailFast',
      'GateCancelled:NotNeeded',
    ]);
    assert.deepEqual(states(w, 'b', 'clean'), ['Running:FailFast', 'Pending:undefined']);
    say(w, 'stopped', 'b');
    w.followUp();
    assert.equal(stateOf(w, 'clean'), 'Eligible:DependenciesSatisfied');
    succeed(w, 'clean');
    assert.equal(w.state.run.state, 'Running');
    succeed(w, 'report');
    assert.deepEqual([w.state.run.state, w.state.run.reason?.code], ['Failed', 'RequiredJobFailed']);
  }),
  behaviour('fail-fast: a job lost at that moment ends at once', (world) => {
    const w = world([job('a'), job('b')], { failFast: true });
    bringTo(w, 'a', 'Running', 'ada');
    w.now += 1_000;
    bringTo(w, 'b', 'Running', 'bob');
    w.now = leaseOf(w, 'a').expiresAt;
    w.submit(expireLease(w, 'a'));
    say(w, 'fail', 'b');
    assert.deepEqual([stateOf(w, 'a'), w.state.run.state], ['Cancelled:FailFast', 'Failed']);
  }),
  behaviour('gate: opens with its prerequisites, and the first decision starts the run', (world) => {
    const w = world([job('a', { needs: ['g'] }), job('b'), gate('g', { needs: ['b'] }), gate('h')]);
    for (const verdict of ['approve', 'reject'] as const) {
      expectUntouched(w, () => w.submit(decideGate(w, 'g', verdict)), 'rejected GateNotOpen');
    }
    const approved = w.submit({ ...decideGate(w, 'h', 'approve') }, 'user:eve');
    assert.deepEqual(factsOf(approved), ['GateSatisfied:Approved', 'RunStarted:FirstWork']);
    assert.deepEqual(
      [w.state.run.state, w.state.run.startedAt, gateOf(w, 'h').decidedBy],
      ['Running', w.now, 'user:eve'],
    );
    expectUntouched(w, () => w.submit(decideGate(w, 'h', 'approve')), 'no-op AlreadyDone');
    expectUntouched(w, () => w.submit(decideGate(w, 'h', 'reject')), 'rejected AlreadyTerminal');
    w.now += 7;
    succeed(w, 'b');
    assert.equal(gateOf(w, 'g').openedAt, w.now);
    assert.deepEqual(factsOf(w.submit(decideGate(w, 'g', 'approve'))), [
      'GateSatisfied:Approved',
      'JobEligible:DependenciesSatisfied',
    ]);
    succeed(w, 'a');
    assert.equal(w.state.run.state, 'Succeeded');
  }),
  behaviour('gate: a rejection skips what waits for it and fails the run', (world) => {
    const w = world([
      job('a', { needs: ['g'] }),
      job('b', { needs: [{ gate: 'g', condition: 'completed' }] }),
      gate('g'),
    ]);
    w.submit(decideGate(w, 'g', 'reject'), 'user:eve');
    assert.equal(gateOf(w, 'g').decidedBy, 'user:eve');
    assert.deepEqual(states(w, 'a', 'b', 'g'), [
      'Skipped:UpstreamFailed',
      'Eligible:DependenciesSatisfied',
      'Rejected:RejectedByActor',
    ]);
    expectUntouched(w, () => w.submit(decideGate(w, 'g', 'reject')), 'no-op AlreadyDone');
    expectUntouched(w, () => w.submit(decideGate(w, 'g', 'approve')), 'rejected AlreadyTerminal');
    succeed(w, 'b');
    assert.equal(w.state.run.state, 'Failed');
  }),
  behaviour('gate: only its approvers may decide it', (world) => {
    const w = world([job('a', { needs: ['g'] }), gate('g', { approvers: ['user:eve'] })]);
    expectUntouched(w, () => w.submit(decideGate(w, 'g', 'approve'), 'user:mallory'), 'rejected NotAnApprover');
    expectAnswer(w.submit(decideGate(w, 'g', 'approve'), 'user:eve'), 'accepted');
  }),
  behaviour('gate: expires after it opened, by its policy, not a millisecond early', (world) => {
    for (const onExpiry of ['reject', 'satisfy'] as const) {
      const w = world([job('a'), job('b', { needs: ['g'] }), gate('g', { needs: ['a'], expiry: '1m', onExpiry })]);
      const expire = () => w.submit({ type: 'ExpireGate', gate: gateOf(w, 'g').id });
      w.now += 3_600_000;
      expectUntouched(w, expire, 'no-op NotDue');
      succeed(w, 'a');
      assert.equal(gateOf(w, 'g').expiresAt, w.now + 60_000);
      w.now += 59_999;
      expectUntouched(w, expire, 'no-op NotDue');
      w.now += 1;
      expectAnswer(expire(), 'accepted');
      assert.deepEqual(
        [stateOf(w, 'g'), gateOf(w, 'g').decidedBy],
        [onExpiry === 'reject' ? 'Rejected:GateExpired' : 'Satisfied:GateExpired', null],
      );
      assert.equal(jobOf(w, 'b').state, onExpiry === 'reject' ? 'Skipped' : 'Eligible');
      expectUntouched(w, expire, 'rejected AlreadyTerminal');
    }
    const patient = world([gate('g'), job('a', { needs: ['g'] })]);
    patient.now += 10 ** 9;
    expectUntouched(
      patient,
      () => patient.submit({ type: 'ExpireGate', gate: gateOf(patient, 'g').id }),
      'no-op NotDue',
    );
  }),
  behaviour('gate: a decision of nobody is wanted when all that waits for it has ended, all the way up', (world) => {
    const w = world([job('a', { needs: ['g'] }), job('b'), gate('g', { needs: ['f'] }), gate('f', { needs: ['b'] })]);
    w.submit(skipJob(w, 'a'));
    assert.deepEqual(states(w, 'g', 'f'), ['Cancelled:NotNeeded', 'Cancelled:NotNeeded']);
    succeed(w, 'b');
    assert.equal(w.state.run.state, 'Succeeded');
  }),
  behaviour('gate: without dependents it holds the run, and its end decides it', (world) => {
    const alone = [job('a'), gate('g', { needs: ['a'] })];
    const w = world(alone);
    succeed(w, 'a');
    assert.equal(w.state.run.state, 'Running');
    w.submit(decideGate(w, 'g', 'reject'));
    assert.equal(w.state.run.state, 'Failed');
    const unmet = world(alone);
    unmet.submit(cancelJob(unmet, 'a'));
    unmet.followUp();
    assert.deepEqual([stateOf(unmet, 'g'), unmet.state.run.state], ['Cancelled:UpstreamCancelled', 'Cancelled']);
  }),
  behaviour('000 §376.19, 000 §364.9: judging what is due is idempotent and repairs what a follow-up left', (world) => {
    const w = world([job('a'), job('b', { needs: ['a'] }), job('c', { needs: ['b'] })]);
    failing(w, 'a');
    assert.equal(w.pending.length, 1);
    expectAnswer(w.submit({ type: 'JudgeNodes', nodes: [2] }), 'accepted');
    assert.equal(w.state.run.state, 'Failed');
    for (const decision of w.followUp()) expectAnswer(decision, 'no-op NothingDue');
  }),
  behaviour('unknown jobs and gates are refused by name', (world) => {
    const w = world([job('a'), gate('g')]);
    const [a, g] = [jobOf(w, 'a').id, gateOf(w, 'g').id];
    const asJob = w.state.node(1).kind === 'gate' ? { type: 'ResolveLost' as const, job: w.nextId<typeof a>() } : null;
    if (asJob === null) throw new Error('gates follow jobs in the plan');
    expectUntouched(w, () => w.submit(asJob), 'rejected UnknownEntity');
    expectUntouched(
      w,
      () => w.submit({ type: 'CancelJob', job: w.nextId<typeof a>(), message: null }),
      'rejected UnknownEntity',
    );
    expectUntouched(w, () => w.submit({ type: 'ReachRetryTime', job: w.nextId<typeof a>() }), 'rejected UnknownEntity');
    expectUntouched(w, () => w.submit({ type: 'ExpireGate', gate: w.nextId<typeof g>() }), 'rejected UnknownEntity');
    const unknown = { type: 'DecideGate', gate: w.nextId<typeof g>(), verdict: 'approve', message: null } as const;
    expectUntouched(w, () => w.submit(unknown), 'rejected UnknownEntity');
  }),
];
