import assert from 'node:assert/strict';
import { job } from '../../machines/plan/index.ts';
import type { World } from '../core/index.ts';
import { attemptOf, bringTo, cancelJob, cancelRun, expireLease, grant, jobOf, leaseOf, say } from '../core/index.ts';
import { behaviour, expectAnswer, expectUntouched, factsOf } from './behaviour.ts';

const credit = (world: World, sequence: number, gapStart: number, gapMs: number) =>
  world.submit({ type: 'CreditOutage', credit: sequence, gapStart, gapMs }, 'system:control');

/** Time in which nobody could renew is given back, once and bounded (000 §272; state-machines: Outage credit). */
export const outages = [
  behaviour('000 §376.26: an outage moves leases and queue deadlines that were alive when it began', (world) => {
    const w = world(
      [job('a', { timeouts: { execution: '1h', queue: '5m' } }), job('b', { timeouts: { queue: '5m' } })],
      { deadline: '2h' },
    );
    bringTo(w, 'a', 'Running');
    const before = { lease: leaseOf(w, 'a'), attempt: attemptOf(w, 'a'), queue: jobOf(w, 'b').queueDeadlineAt ?? 0 };
    const gapStart = w.now + 1_000;
    w.now += 60_000;
    const decision = credit(w, 1, gapStart, 20_000);
    assert.deepEqual(factsOf(decision), ['OutageCreditGranted:ControlPlaneOutage']);
    assert.equal(leaseOf(w, 'a').expiresAt, before.lease.expiresAt + 20_000);
    assert.equal(leaseOf(w, 'a').creditMs, 20_000);
    assert.equal(jobOf(w, 'b').queueDeadlineAt, before.queue + 20_000);
    assert.deepEqual(
      [attemptOf(w, 'a').executionDeadlineAt, w.state.run.deadlineAt],
      [before.attempt.executionDeadlineAt, 1_000_000 + 7_200_000],
    );
    assert.equal(w.state.run.creditSequence, 1);
    expectUntouched(w, () => credit(w, 1, gapStart, 20_000), 'no-op AlreadyDone');
    assert.equal(leaseOf(w, 'a').expiresAt, before.lease.expiresAt + 20_000);
    const fact = w.facts.at(-1);
    assert.deepEqual(fact?.entity === 'run' && fact.credit, { gapStart, gapMs: 20_000, leases: 1 });
  }),
  behaviour('one outage gives a lease at most one ttl, all outages between two renewals at most two', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Running');
    const { expiresAt, ttlMs } = leaseOf(w, 'a');
    credit(w, 1, w.now, 10 * ttlMs);
    assert.equal(leaseOf(w, 'a').expiresAt, expiresAt + ttlMs);
    credit(w, 2, w.now + 1, ttlMs - 1);
    credit(w, 3, w.now + 2, ttlMs);
    assert.deepEqual([leaseOf(w, 'a').expiresAt, leaseOf(w, 'a').creditMs], [expiresAt + 2 * ttlMs, 2 * ttlMs]);
    expectUntouched(w, () => credit(w, 4, w.now + 3, ttlMs), 'no-op NothingDue');
    w.now += 1_000;
    w.renew(leaseOf(w, 'a').id);
    const renewed = leaseOf(w, 'a').expiresAt;
    credit(w, 5, w.now + 1, 500);
    assert.equal(leaseOf(w, 'a').expiresAt, renewed + 500);
  }),
  behaviour('a lease that was dead before the outage stays dead; one renewed since gets nothing', (world) => {
    const w = world([job('a'), job('b')]);
    bringTo(w, 'a', 'Running');
    const dead = leaseOf(w, 'a').expiresAt;
    w.now = dead + 5_000;
    bringTo(w, 'b', 'Running');
    expectUntouched(w, () => credit(w, 1, dead, 5_000), 'no-op NothingDue');
    expectAnswer(credit(w, 1, dead - 1, 5_000), 'accepted');
    assert.equal(leaseOf(w, 'b').creditMs, 0);
  }),
  behaviour('an offer that was open gets the time too', (world) => {
    const w = world([job('a', { timeouts: { queue: '1m' } })]);
    grant(w, 'a');
    const { offerExpiresAt } = leaseOf(w, 'a');
    const queue = jobOf(w, 'a').queueDeadlineAt ?? 0;
    credit(w, 1, w.now, 4_000);
    assert.deepEqual(
      [leaseOf(w, 'a').offerExpiresAt, leaseOf(w, 'a').expiresAt],
      [offerExpiresAt + 4_000, offerExpiresAt + 4_000],
    );
    assert.equal(jobOf(w, 'a').queueDeadlineAt, queue + 4_000);
    w.now = offerExpiresAt;
    expectAnswer(w.submit(expireLease(w, 'a')), 'no-op NotDue');
    expectAnswer(say(w, 'accept', 'a'), 'accepted');
    assert.equal(leaseOf(w, 'a').creditMs, 0);
  }),
  behaviour('a queue deadline that began after the outage does not move', (world) => {
    const w = world([job('a', { timeouts: { queue: '1m' } })]);
    expectUntouched(w, () => credit(w, 1, w.now - 1, 5_000), 'no-op NothingDue');
    expectAnswer(credit(w, 1, w.now, 5_000), 'accepted');
  }),
  behaviour('a cancelling run is credited as well, an ended one has nothing to credit', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Running');
    w.submit(cancelRun);
    expectAnswer(credit(w, 1, w.now, 5_000), 'accepted');
    expectUntouched(w, () => credit(w, 1, w.now, 5_000), 'no-op AlreadyDone');
    say(w, 'stopped', 'a');
    expectUntouched(w, () => credit(w, 2, w.now, 5_000), 'no-op NothingDue');
  }),
  behaviour('an outage that runs backwards is no outage', (world) => {
    const w = world([job('a', { timeouts: { queue: '1m' } })]);
    bringTo(w, 'a', 'Running');
    w.submit(cancelJob(w, 'a'));
    for (const [gapStart, gapMs] of [
      [w.now, -1],
      [w.now, 0.5],
      [Number.NaN, 5],
    ] as const) {
      expectUntouched(w, () => credit(w, 1, gapStart, gapMs), 'rejected InvalidCommand');
    }
  }),
];
