import assert from 'node:assert/strict';
import type { FailureClass } from '../../machines/index.ts';
import { job } from '../../machines/plan/index.ts';
import type { World } from '../core/index.ts';
import {
  attemptOf,
  bringTo,
  expireLease,
  failing,
  grant,
  jobOf,
  leaseOf,
  say,
  sessionOf,
  succeed,
} from '../core/index.ts';
import { behaviour, expectAnswer, expectUntouched, factsOf } from './behaviour.ts';

function lose(world: World, node: string) {
  bringTo(world, node, 'Running');
  world.now = leaseOf(world, node).expiresAt;
  return world.submit(expireLease(world, node));
}

/** Refuses offers until the count is reached. */
function refuse(world: World, node: string, times: number): void {
  for (let count = 0; count < times; count += 1) {
    grant(world, node, `s${count % 3}`);
    expectAnswer(say(world, 'decline', node), 'accepted');
  }
}

const budgets = (world: World) => [jobOf(world, 'a').workloadFailures, jobOf(world, 'a').infrastructureFailures];

/** Two budgets, one persisted backoff, refusals (000 §53-58, §197-198). */
export const retries = [
  behaviour('000 §375.10, 000 §375.11, 000 §376.3: a retry is a new attempt under a new lease and epoch', (world) => {
    const w = world([job('a', { retry: { attempts: 3, on: ['TestFailure'] } })]);
    failing(w, 'a', 'TestFailure');
    assert.equal(jobOf(w, 'a').state, 'Eligible');
    failing(w, 'a', 'TestFailure');
    succeed(w, 'a');
    const numbers = [1, 2, 3];
    assert.equal(new Set(numbers.map((number) => attemptOf(w, 'a', number).id)).size, 3);
    assert.equal(new Set(numbers.map((number) => leaseOf(w, 'a', number).id)).size, 3);
    assert.deepEqual(
      numbers.map((number) => leaseOf(w, 'a', number).epoch),
      [1, 2, 3],
    );
    assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').failureClass], ['Succeeded', null]);
  }),
  behaviour(
    '000 §375.12, 000 §375.28, 000 §376.16: a lost attempt is retried as an infrastructure failure',
    (world) => {
      const w = world([job('a', { retry: { backoff: '5s' } })]);
      const decision = lose(w, 'a');
      assert.deepEqual(factsOf(decision), [
        'AttemptEnded:LeaseExpired',
        'LeaseExpired:LeaseExpired',
        'JobLost:LeaseExpired',
      ]);
      assert.equal(decision.outcome === 'accepted' && decision.changes.guards[0]?.kind, 'lease-expired');
      assert.deepEqual([jobOf(w, 'a').state, attemptOf(w, 'a').state], ['Lost', 'Lost']);
      assert.equal(attemptOf(w, 'a').failureClass, 'RunnerLost');
      w.followUp();
      assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').retryNotBefore], ['RetryWaiting', w.now + 5_000]);
      assert.deepEqual(budgets(w), [0, 1]);
      expectAnswer(w.submit({ type: 'ResolveLost', job: jobOf(w, 'a').id }), 'no-op NothingDue');
    },
  ),
  behaviour('a job that lost its only chance to retry fails as RunnerLost, in every held phase', (world) => {
    for (const phase of ['Preparing', 'Running', 'UploadingOutputs'] as const) {
      const w = world([job('a', { retry: { infrastructureRetries: 0 } })]);
      bringTo(w, 'a', phase);
      w.now += w.limits.leaseTtlMs - 1;
      expectUntouched(w, () => w.submit(expireLease(w, 'a')), 'no-op NotDue');
      w.now += 1;
      w.submit(expireLease(w, 'a'));
      assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').currentLease], ['Lost', null]);
      assert.equal(attemptOf(w, 'a').failureClass, 'RunnerLost');
      w.followUp();
      assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').failureClass], ['Failed', 'RunnerLost']);
      assert.equal(w.state.run.state, 'Failed');
    }
  }),
  behaviour('000 §375.13: the fourth infrastructure failure ends the job; the budget is bounded', (world) => {
    const w = world([job('a')]);
    for (const spent of [1, 2, 3]) {
      lose(w, 'a');
      w.followUp();
      assert.deepEqual([jobOf(w, 'a').state, ...budgets(w)], ['Eligible', 0, spent]);
    }
    lose(w, 'a');
    w.followUp();
    assert.deepEqual([jobOf(w, 'a').state, ...budgets(w)], ['Failed', 0, 4]);
    assert.equal(jobOf(w, 'a').reason?.code, 'RunnerLost');
  }),
  behaviour('000 §375.13: workload attempts are counted apart from losses', (world) => {
    const w = world([job('a', { retry: { attempts: 2, on: ['UserCommand'], infrastructureRetries: 1 } })]);
    lose(w, 'a');
    w.followUp();
    failing(w, 'a', 'UserCommand');
    assert.deepEqual([jobOf(w, 'a').state, ...budgets(w)], ['Eligible', 1, 1]);
    failing(w, 'a', 'UserCommand');
    assert.deepEqual([jobOf(w, 'a').state, ...budgets(w)], ['Failed', 2, 1]);
  }),
  behaviour('000 §375.14: a compile failure is final unless the plan says otherwise', (world) => {
    const w = world([job('a')]);
    const decision = failing(w, 'a', 'CompileFailure');
    assert.deepEqual(factsOf(decision), [
      'AttemptEnded:CompileFailure',
      'LeaseReleased:CompileFailure',
      'JobFailed:CompileFailure',
      'RunFailed:RequiredJobFailed',
    ]);
    const other = world([job('a', { retry: { attempts: 2, on: ['CompileFailure'] } })]);
    failing(other, 'a', 'CompileFailure');
    assert.equal(jobOf(other, 'a').state, 'Eligible');
  }),
  behaviour(
    '000 §375.15: infrastructure failures are retried unless reported as permanent, in every phase',
    (world) => {
      const classes: readonly FailureClass[] = [
        'Infrastructure',
        'SandboxSetup',
        'ToolchainUnavailable',
        'InputFetch',
        'OutputUpload',
      ];
      for (const failureClass of classes) {
        for (const phase of ['Preparing', 'Running', 'UploadingOutputs'] as const) {
          const w = world([job('a', { retry: { backoff: '1s' } })]);
          bringTo(w, 'a', phase);
          say(w, 'fail', 'a', { failureClass });
          assert.deepEqual([jobOf(w, 'a').state, ...budgets(w)], ['RetryWaiting', 0, 1]);
          assert.deepEqual([attemptOf(w, 'a').state, jobOf(w, 'a').currentAttempt], ['Failed', null]);
          w.now += 1_000;
          w.submit({ type: 'ReachRetryTime', job: jobOf(w, 'a').id });
          bringTo(w, 'a', phase);
          say(w, 'fail', 'a', { failureClass, transient: false });
          assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').failureClass], ['Failed', failureClass]);
        }
      }
    },
  ),
  behaviour('a final failure in any phase leaves its evidence and its charge', (world) => {
    for (const phase of ['Preparing', 'Running', 'UploadingOutputs'] as const) {
      const w = world([job('a')]);
      bringTo(w, 'a', phase);
      say(w, 'fail', 'a', { failureClass: 'TestFailure', message: 'two tests' });
      assert.deepEqual(
        [jobOf(w, 'a').state, jobOf(w, 'a').failureClass, ...budgets(w)],
        ['Failed', 'TestFailure', 1, 0],
      );
      const { exit, failureClass, failureDetail, finishedAt } = attemptOf(w, 'a');
      assert.deepEqual([exit, failureClass, finishedAt], [{ code: 1, signal: null }, 'TestFailure', w.now]);
      assert.equal(failureDetail?.message, 'two tests');
    }
  }),
  behaviour('what a runner says about its failure is cut to a bound', (world) => {
    const w = world([job('a')], {}, { limits: { reasonMessageCharsMax: 5 } });
    bringTo(w, 'a', 'Running');
    say(w, 'fail', 'a', { message: '123456' });
    assert.deepEqual([attemptOf(w, 'a').failureDetail?.message, jobOf(w, 'a').reason?.message], ['1234…', '1234…']);
    const exact = world([job('a')], {}, { limits: { reasonMessageCharsMax: 5 } });
    bringTo(exact, 'a', 'Running');
    say(exact, 'fail', 'a', { message: '12345' });
    assert.deepEqual(
      [attemptOf(exact, 'a').failureDetail?.message, jobOf(exact, 'a').reason?.message],
      ['12345', '12345'],
    );
  }),
  behaviour('policy and internal failures are never retried and charge nothing', (world) => {
    for (const failureClass of ['Policy', 'Internal'] as const) {
      const w = world([job('a')]);
      failing(w, 'a', failureClass);
      assert.deepEqual([jobOf(w, 'a').state, ...budgets(w)], ['Failed', 0, 0]);
    }
  }),
  behaviour('000 §364.6: the drawn delay is persisted, and the retry waits for it to the millisecond', (world) => {
    const backoff = { base: '4s', factor: 2, max: '10s' };
    const w = world([job('a', { retry: { backoff } })], {}, { random: () => 0.75 });
    const delays: number[] = [];
    for (const _ of [1, 2, 3]) {
      failing(w, 'a', 'Infrastructure');
      const { state, retryNotBefore, id } = jobOf(w, 'a');
      assert.equal(state, 'RetryWaiting');
      delays.push((retryNotBefore ?? 0) - w.now);
      w.now = (retryNotBefore ?? 0) - 1;
      expectUntouched(w, () => w.submit({ type: 'ReachRetryTime', job: id }), 'no-op NotDue');
      w.now += 1;
      assert.deepEqual(factsOf(w.submit({ type: 'ReachRetryTime', job: id })), ['JobEligible:RetryDelayElapsed']);
      expectUntouched(w, () => w.submit({ type: 'ReachRetryTime', job: id }), 'no-op NotDue');
      assert.equal(jobOf(w, 'a').retryNotBefore, null);
    }
    assert.deepEqual(delays, [3_000, 6_000, 7_500]);
  }),
  behaviour('a refused offer costs nothing: the job keeps its place and its queue deadline', (world) => {
    const w = world([job('a', { timeouts: { queue: '5m' } })]);
    const { queueDeadlineAt, eligibleAt } = jobOf(w, 'a');
    w.now += 1_000;
    grant(w, 'a');
    const refused = say(w, 'decline', 'a', { message: 'busy' });
    assert.deepEqual(factsOf(refused), [
      'AttemptEnded:OfferRejected',
      'LeaseRejected:OfferRejected',
      'JobReturnedToQueue:OfferRejected',
    ]);
    const row = jobOf(w, 'a');
    assert.deepEqual(
      [row.state, row.queueDeadlineAt, row.eligibleAt, row.refusals],
      ['Eligible', queueDeadlineAt, eligibleAt, 1],
    );
    assert.deepEqual([row.refusedBy, budgets(w)], [[{ session: sessionOf('ada'), at: w.now }], [0, 0]]);
    assert.deepEqual([attemptOf(w, 'a').state, leaseOf(w, 'a').state], ['Rejected', 'Rejected']);
    assert.deepEqual([attemptOf(w, 'a').failureClass, attemptOf(w, 'a').reason?.message], [null, 'busy']);
    grant(w, 'a', 'bob');
    w.now += w.limits.offerTtlMs;
    assert.deepEqual(factsOf(w.submit(expireLease(w, 'a'))).slice(0, 2), [
      'AttemptEnded:OfferExpired',
      'LeaseExpired:OfferExpired',
    ]);
    assert.deepEqual(
      [attemptOf(w, 'a').state, leaseOf(w, 'a').state, jobOf(w, 'a').refusals],
      ['Rejected', 'Expired', 2],
    );
  }),
  behaviour('too many refusals in a row spend one infrastructure retry', (world) => {
    const w = world([job('a', { retry: { backoff: '2s' } })]);
    refuse(w, 'a', w.limits.refusalsMax - 1);
    assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').refusals], ['Eligible', w.limits.refusalsMax - 1]);
    refuse(w, 'a', 1);
    const row = jobOf(w, 'a');
    assert.deepEqual(
      [row.state, row.reason?.code, row.refusals, row.refusedBy],
      ['RetryWaiting', 'NoWillingRunner', 0, []],
    );
    assert.deepEqual([budgets(w), row.retryNotBefore], [[0, 1], w.now + 2_000]);
  }),
  behaviour('without backoff a refused job still passes through RetryWaiting, due at once', (world) => {
    const w = world([job('a')]);
    refuse(w, 'a', w.limits.refusalsMax);
    assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').retryNotBefore], ['RetryWaiting', w.now]);
    expectAnswer(w.submit({ type: 'ReachRetryTime', job: jobOf(w, 'a').id }), 'accepted');
  }),
  behaviour('a fleet that only refuses fails the job: NoWillingRunner', (world) => {
    const w = world([job('a', { retry: { infrastructureRetries: 0 } })]);
    refuse(w, 'a', w.limits.refusalsMax);
    const row = jobOf(w, 'a');
    assert.deepEqual([row.state, row.failureClass, row.reason?.code], ['Failed', 'Infrastructure', 'NoWillingRunner']);
    assert.deepEqual([w.state.run.state, row.refusals, row.currentLease, ...budgets(w)], ['Failed', 0, null, 0, 1]);
  }),
  behaviour('offers that expire count like refusals', (world) => {
    for (const infrastructureRetries of [0, 1]) {
      const w = world([job('a', { retry: { infrastructureRetries, backoff: '2s' } })]);
      for (let count = 0; count < w.limits.refusalsMax; count += 1) {
        assert.equal(jobOf(w, 'a').refusals, count);
        grant(w, 'a');
        w.now += w.limits.offerTtlMs - 1;
        expectUntouched(w, () => w.submit(expireLease(w, 'a')), 'no-op NotDue');
        w.now += 1;
        expectAnswer(w.submit(expireLease(w, 'a')), 'accepted');
      }
      const row = jobOf(w, 'a');
      assert.deepEqual(
        [row.state, row.reason?.code],
        [infrastructureRetries === 0 ? 'Failed' : 'RetryWaiting', 'NoWillingRunner'],
      );
      assert.deepEqual([row.refusals, row.refusedBy, row.currentLease, ...budgets(w)], [0, [], null, 0, 1]);
      assert.equal(row.retryNotBefore, infrastructureRetries === 0 ? null : w.now + 2_000);
    }
  }),
  behaviour('an offer taken resets the count, an offer taken back does not', (world) => {
    const w = world([job('a')]);
    refuse(w, 'a', 3);
    bringTo(w, 'a', 'Preparing');
    assert.deepEqual([jobOf(w, 'a').refusals, jobOf(w, 'a').refusedBy], [0, []]);
    say(w, 'fail', 'a', { failureClass: 'Infrastructure' });
    refuse(w, 'a', 2);
    grant(w, 'a');
    const revoked = w.submit({ type: 'RevokeLease', job: jobOf(w, 'a').id, lease: leaseOf(w, 'a').id });
    assert.deepEqual(factsOf(revoked), [
      'AttemptEnded:OfferRevoked',
      'LeaseRevoked:OfferRevoked',
      'JobReturnedToQueue:OfferRevoked',
    ]);
    assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').refusals, jobOf(w, 'a').currentLease], ['Eligible', 2, null]);
    expectAnswer(
      w.submit({ type: 'RevokeLease', job: jobOf(w, 'a').id, lease: leaseOf(w, 'a').id }),
      'no-op AlreadyDone',
    );
  }),
  behaviour('a lease that is held is not revoked', (world) => {
    for (const phase of ['Preparing', 'Running', 'UploadingOutputs'] as const) {
      const w = world([job('a')]);
      bringTo(w, 'a', phase);
      const revoke = { type: 'RevokeLease', job: jobOf(w, 'a').id, lease: leaseOf(w, 'a').id } as const;
      expectUntouched(w, () => w.submit(revoke), 'rejected IllegalTransition');
    }
  }),
  behaviour('only so many refusing sessions are remembered, the newest ones', (world) => {
    const w = world([job('a')], {}, { limits: { refusalsMax: 99 } });
    for (let count = 0; count <= w.limits.refusedByMax; count += 1) {
      grant(w, 'a', `s${count}`);
      say(w, 'decline', 'a');
    }
    const remembered = jobOf(w, 'a').refusedBy.map(({ session }) => session);
    assert.deepEqual([remembered.length, remembered[0], remembered.at(-1)], [8, 's1', 's8']);
  }),
  behaviour('a retry enters the queue anew, with a deadline of its own', (world) => {
    const w = world([job('a', { timeouts: { queue: '1m' }, retry: { attempts: 3, on: ['UserCommand'] } })]);
    w.now += 10_000;
    failing(w, 'a');
    assert.equal(jobOf(w, 'a').queueDeadlineAt, w.now + 60_000);
    lose(w, 'a');
    w.followUp();
    assert.equal(jobOf(w, 'a').queueDeadlineAt, w.now + 60_000);
  }),
];
