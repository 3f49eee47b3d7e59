import assert from 'node:assert/strict';
import type { Command, TimeoutPhase } from '../../machines/index.ts';
import { job } from '../../machines/plan/index.ts';
import type { Phase, World } from '../core/index.ts';
import {
  attemptOf,
  bringTo,
  cancelJob,
  expireLease,
  failing,
  grant,
  jobOf,
  leaseOf,
  say,
  skipJob,
} from '../core/index.ts';
import { behaviour, expectAnswer, expectUntouched, factsOf } from './behaviour.ts';

const timed: readonly (readonly [TimeoutPhase, Phase, string])[] = [
  ['preparation', 'Preparing', 'PreparationTimeout'],
  ['execution', 'Running', 'ExecutionTimeout'],
  ['upload', 'UploadingOutputs', 'UploadTimeout'],
];
const short = { preparation: '5s', execution: '5s', upload: '5s', queue: '1m' };

const timeout = (world: World, phase: TimeoutPhase, number?: number): Command => ({
  type: 'ReachPhaseTimeout',
  job: jobOf(world, 'a').id,
  attempt: attemptOf(world, 'a', number).id,
  phase,
});
const queueTimeout = (world: World): Command => ({ type: 'ReachQueueTimeout', job: jobOf(world, 'a').id });

/** Deadlines of jobs (000 §60-65, §126-128, §295-298). */
export const timeouts = [
  behaviour('000 §364.8, 000 §376.15: a phase timeout asks the attempt to stop; its end is TimedOut', (world) => {
    for (const [phase, state, reason] of timed) {
      const w = world([job('a', { timeouts: short })]);
      bringTo(w, 'a', state);
      w.now += 4_999;
      expectUntouched(w, () => w.submit(timeout(w, phase)), 'no-op NotDue');
      w.now += 1;
      assert.deepEqual(factsOf(w.submit(timeout(w, phase))), [`JobTerminationRequested:${reason}`]);
      assert.deepEqual(jobOf(w, 'a').intent, { kind: 'TimedOut', reason });
      assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').terminateBy], [state, w.now + 10_000]);
      expectUntouched(w, () => w.submit(timeout(w, phase)), 'no-op AlreadyDone');
      const stopped = say(w, 'stopped', 'a');
      assert.deepEqual(factsOf(stopped), [
        `AttemptEnded:${reason}`,
        `LeaseReleased:${reason}`,
        `JobTimedOut:${reason}`,
        'RunFailed:RequiredJobFailed',
      ]);
      assert.deepEqual([jobOf(w, 'a').failureClass, attemptOf(w, 'a').state], ['Timeout', 'TimedOut']);
      assert.deepEqual([jobOf(w, 'a').workloadFailures, jobOf(w, 'a').terminateBy], [1, null]);
      assert.deepEqual([attemptOf(w, 'a').exit?.code, attemptOf(w, 'a').failureClass], [130, 'Timeout']);
    }
  }),
  behaviour('a timeout of another phase or attempt is no timeout', (world) => {
    const w = world([job('a', { timeouts: short, retry: { attempts: 3, on: ['UserCommand'] } })]);
    failing(w, 'a');
    w.now += 60_000;
    const all: readonly TimeoutPhase[] = ['preparation', 'execution', 'upload'];
    const refused = () => {
      for (const phase of all) expectUntouched(w, () => w.submit(timeout(w, phase, 1)), 'no-op NotDue');
    };
    refused();
    grant(w, 'a');
    refused();
    for (const [phase, state] of timed) {
      if (state === 'Preparing') say(w, 'accept', 'a');
      if (state === 'Running') say(w, 'start', 'a');
      if (state === 'UploadingOutputs') say(w, 'finish', 'a');
      refused();
      w.now += 5_000;
      w.renew(leaseOf(w, 'a').id);
      for (const other of all.filter((each) => each !== phase)) {
        expectUntouched(w, () => w.submit(timeout(w, other)), 'no-op NotDue');
      }
    }
  }),
  behaviour('a timeout that comes between two attempts, or to a lost one, is not due any more', (world) => {
    const w = world([job('a', { timeouts: short, retry: { backoff: '5s' } })]);
    bringTo(w, 'a', 'Running');
    w.now = leaseOf(w, 'a').expiresAt;
    w.submit(expireLease(w, 'a'));
    assert.equal(jobOf(w, 'a').state, 'Lost');
    expectUntouched(w, () => w.submit(timeout(w, 'execution')), 'no-op NotDue');
    w.followUp();
    assert.equal(jobOf(w, 'a').state, 'RetryWaiting');
    expectUntouched(w, () => w.submit(timeout(w, 'execution')), 'no-op NotDue');
  }),
  behaviour('an execution timeout that includes preparation strikes in preparation too', (world) => {
    const including = { execution: '5s', executionIncludesPreparation: true };
    const w = world([job('a', { timeouts: including })]);
    bringTo(w, 'a', 'Preparing');
    w.now += 5_000;
    expectAnswer(w.submit(timeout(w, 'execution')), 'accepted');
    assert.equal(jobOf(w, 'a').intent?.reason, 'ExecutionTimeout');
    const other = world([job('a', { timeouts: { execution: '5s' } })]);
    bringTo(other, 'a', 'Preparing');
    other.now += 5_000;
    expectUntouched(other, () => other.submit(timeout(other, 'execution')), 'no-op NotDue');
  }),
  behaviour('a timeout is retried where the plan lists it, whatever way the attempt ends', (world) => {
    for (const backoff of ['none', '5s'] as const) {
      for (const [phase, state] of timed) {
        for (const end of ['stopped', 'fail', 'lost'] as const) {
          const w = world([job('a', { timeouts: short, retry: { attempts: 2, on: ['Timeout'], backoff } })]);
          bringTo(w, 'a', state);
          w.now += 5_000;
          w.submit(timeout(w, phase));
          if (end === 'lost') {
            w.now = leaseOf(w, 'a').expiresAt;
            expectAnswer(w.submit(expireLease(w, 'a')), 'accepted');
          } else say(w, end, 'a', { failureClass: 'Infrastructure' });
          const row = jobOf(w, 'a');
          assert.deepEqual(
            [row.state, row.intent, row.terminateBy],
            [backoff === 'none' ? 'Eligible' : 'RetryWaiting', null, null],
          );
          assert.deepEqual([row.workloadFailures, row.infrastructureFailures, row.failureClass], [1, 0, 'Timeout']);
          assert.equal(row.retryNotBefore, backoff === 'none' ? null : w.now + 5_000);
          assert.equal(row.queueDeadlineAt, backoff === 'none' ? w.now + 60_000 : 1_000_000 + 60_000);
          assert.equal(attemptOf(w, 'a').state, end === 'lost' ? 'Lost' : 'TimedOut');
          assert.equal(row.currentLease, null);
        }
      }
    }
  }),
  behaviour('a timeout that is the last word ends the job as TimedOut, also when the lease is lost', (world) => {
    for (const [phase, state, reason] of timed) {
      for (const end of ['stopped', 'fail', 'lost'] as const) {
        const w = world([job('a', { timeouts: short })]);
        bringTo(w, 'a', state);
        w.now += 5_000;
        w.submit(timeout(w, phase));
        w.now = leaseOf(w, 'a').expiresAt - (end === 'lost' ? 0 : 1);
        if (end === 'lost') w.submit(expireLease(w, 'a'));
        else say(w, end, 'a', { failureClass: 'Infrastructure' });
        assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').reason?.code], ['TimedOut', reason]);
        assert.deepEqual([jobOf(w, 'a').failureClass, jobOf(w, 'a').currentLease], ['Timeout', null]);
        assert.equal(jobOf(w, 'a').workloadFailures, 1);
        assert.equal(attemptOf(w, 'a').state, end === 'lost' ? 'Lost' : 'TimedOut');
        assert.equal(attemptOf(w, 'a').failureClass, end === 'lost' ? 'RunnerLost' : 'Timeout');
      }
    }
  }),
  behaviour('a runner may report a timeout of its own: judged as one', (world) => {
    for (const state of ['Preparing', 'Running', 'UploadingOutputs'] as const) {
      const w = world([job('a', { retry: { attempts: 2, on: ['Timeout'] } })]);
      bringTo(w, 'a', state);
      say(w, 'fail', 'a', { failureClass: 'Timeout' });
      assert.deepEqual([jobOf(w, 'a').state, attemptOf(w, 'a').state], ['Eligible', 'TimedOut']);
      bringTo(w, 'a', state);
      say(w, 'fail', 'a', { failureClass: 'Timeout' });
      assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').reason?.code], ['TimedOut', 'Timeout']);
      assert.deepEqual([jobOf(w, 'a').workloadFailures, jobOf(w, 'a').currentAttempt], [2, null]);
    }
  }),
  behaviour('000 §364.8: a cancel outranks a timeout, and a timeout never outranks a cancel', (world) => {
    for (const [phase, state] of timed) {
      const w = world([job('a', { timeouts: { ...short, grace: '20s' }, retry: { attempts: 3, on: ['Timeout'] } })]);
      bringTo(w, 'a', state);
      w.now += 5_000;
      w.submit(timeout(w, phase));
      const bound = jobOf(w, 'a').terminateBy;
      w.now += 5_000;
      assert.deepEqual(factsOf(w.submit(cancelJob(w, 'a'))), ['JobTerminationRequested:OperatorCancelled']);
      assert.deepEqual([jobOf(w, 'a').intent?.kind, jobOf(w, 'a').terminateBy], ['Cancelled', bound]);
      expectUntouched(w, () => w.submit(timeout(w, phase)), 'no-op AlreadyDone');
      say(w, 'stopped', 'a');
      assert.deepEqual([jobOf(w, 'a').state, attemptOf(w, 'a').state], ['Cancelled', 'Cancelled']);
    }
  }),
  behaviour('start: a timeout in preparation is answered with Cancel, and the attempt ends as TimedOut', (world) => {
    const w = world([job('a', { timeouts: short, retry: { attempts: 2, on: ['Timeout'] } })]);
    bringTo(w, 'a', 'Preparing');
    w.now += 5_000;
    w.submit(timeout(w, 'preparation'));
    const decision = say(w, 'start', 'a');
    assert.deepEqual(
      decision.outcome === 'accepted' && decision.reply.kind === 'directive' && decision.reply.directive,
      {
        kind: 'cancel',
        intent: { kind: 'TimedOut', reason: 'PreparationTimeout' },
        expiresAt: leaseOf(w, 'a').expiresAt,
      },
    );
    assert.deepEqual([jobOf(w, 'a').state, attemptOf(w, 'a').state], ['Eligible', 'TimedOut']);
  }),
  behaviour('a queue timeout ends a job nobody took, and only then', (world) => {
    const w = world([job('a', { timeouts: short })]);
    w.now += 59_999;
    expectUntouched(w, () => w.submit(queueTimeout(w)), 'no-op NotDue');
    grant(w, 'a');
    w.now += 1;
    expectUntouched(w, () => w.submit(queueTimeout(w)), 'no-op NotDue');
    say(w, 'decline', 'a');
    assert.deepEqual(factsOf(w.submit(queueTimeout(w))), ['JobTimedOut:QueueTimeout', 'RunFailed:RequiredJobFailed']);
    assert.deepEqual([jobOf(w, 'a').failureClass, jobOf(w, 'a').infrastructureFailures], ['Infrastructure', 0]);
    expectUntouched(w, () => w.submit(queueTimeout(w)), 'rejected AlreadyTerminal');
    const patient = world([job('a')]);
    patient.now += 10 ** 9;
    expectUntouched(patient, () => patient.submit(queueTimeout(patient)), 'no-op NotDue');
    const skipped = world([job('a', { timeouts: short })]);
    skipped.submit(skipJob(skipped, 'a'));
    assert.equal(skipped.timers.size, 0);
  }),
  behaviour('expiry of a lease that is no longer the current one is not due', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Running');
    const old = expireLease(w, 'a');
    say(w, 'fail', 'a', { failureClass: 'Infrastructure' });
    w.now += 60_000;
    expectUntouched(w, () => w.submit(old), 'no-op NotDue');
    grant(w, 'a');
    expectUntouched(w, () => w.submit(old), 'no-op NotDue');
    w.now += 60_000;
    const offer = expireLease(w, 'a');
    if (offer.type !== 'ExpireOffer') throw new Error('an offer expires as an offer');
    expectUntouched(w, () => w.submit({ ...offer, type: 'ExpireLease' }), 'no-op NotDue');
  }),
];
