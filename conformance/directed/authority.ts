import assert from 'node:assert/strict';
import type { Authority } from '../../machines/index.ts';
import { job } from '../../machines/plan/index.ts';
import type { Phase, RunnerWord, World } from '../core/index.ts';
import {
  attemptOf,
  bringTo,
  expireLease,
  fakeDigest,
  grant,
  idOf,
  jobOf,
  leaseOf,
  say,
  sessionOf,
  succeed,
} from '../core/index.ts';
import { behaviour, expectAnswer, expectUntouched, factsOf } from './behaviour.ts';

/** A message that would be right in this phase. */
const rightWord: { readonly [K in Phase]: RunnerWord } = {
  Leased: 'accept',
  Preparing: 'start',
  Running: 'finish',
  UploadingOutputs: 'complete',
};
const phases: readonly Phase[] = ['Leased', 'Preparing', 'Running', 'UploadingOutputs'];

/** The lease of attempt 1 has expired and attempt 2 runs elsewhere. */
function replaced(world: World, phase: Phase): void {
  bringTo(world, 'a', 'Running', 'ada');
  world.now += world.limits.leaseTtlMs;
  world.submit(expireLease(world, 'a'));
  world.followUp();
  bringTo(world, 'a', phase, 'bob');
}

/** Who may change a running attempt (000 §34, §44, §290, §324). */
export const authority = [
  behaviour('000 §376.5, 000 §364.4: every field of the authority counts, in every phase', (world) => {
    for (const phase of phases) {
      const w = world([job('a'), job('b')]);
      bringTo(w, 'a', phase, 'ada');
      const stranger = '00000000-0000-7000-8000-ffffffffffff';
      const tampered: readonly (readonly [Partial<Authority>, string])[] = [
        [{ job: idOf(stranger) }, 'rejected Foreign'],
        [{ job: jobOf(w, 'b').id }, 'rejected Foreign'],
        [{ attempt: idOf(stranger) }, 'rejected Foreign'],
        [{ lease: idOf(stranger) }, 'rejected Foreign'],
        [{ epoch: 2 }, 'rejected Foreign'],
        [{ epoch: 0 }, 'rejected Foreign'],
        [{ runner: idOf('bob') }, 'rejected Foreign'],
        [{ session: sessionOf('ada.2') }, 'rejected Foreign'],
        [{ specDigest: fakeDigest('another spec') }, 'rejected SpecMismatch'],
      ];
      for (const [fields, answer] of tampered) {
        expectUntouched(w, () => say(w, rightWord[phase], 'a', { tampered: fields }), answer);
      }
      expectAnswer(say(w, rightWord[phase], 'a'), 'accepted');
    }
  }),
  behaviour('000 §376.5: a lease counts until its last millisecond and not in the next', (world) => {
    for (const phase of phases) {
      const w = world([job('a')]);
      bringTo(w, 'a', phase);
      w.now += (phase === 'Leased' ? w.limits.offerTtlMs : w.limits.leaseTtlMs) - 1;
      assert.equal(w.peek({ ...expireLease(w, 'a') }).outcome, 'no-op');
      w.now += 1;
      expectUntouched(w, () => say(w, rightWord[phase], 'a'), 'rejected LeaseExpired');
      expectAnswer(w.submit(expireLease(w, 'a')), 'accepted');
    }
  }),
  behaviour('000 §375.19: a heartbeat of an old epoch cannot revive the new lease', (world) => {
    const w = world([job('a')]);
    replaced(w, 'Running');
    const until = leaseOf(w, 'a').expiresAt;
    w.now += 5_000;
    assert.equal(w.renew(leaseOf(w, 'a', 1).id), false);
    assert.equal(leaseOf(w, 'a').expiresAt, until);
    assert.equal(w.renew(leaseOf(w, 'a').id), true);
    assert.equal(leaseOf(w, 'a').expiresAt, until + 5_000);
  }),
  behaviour('000 §375.20, 000 §376.6, 000 §364.5: a late result changes nothing and is put on record once', (world) => {
    for (const phase of phases) {
      const w = world([job('a')]);
      replaced(w, phase);
      const first = say(w, 'complete', 'a', { number: 1 });
      expectAnswer(first, 'rejected Stale');
      assert.deepEqual(factsOf(first), ['LateAttemptResultRejected:LateResult']);
      assert.equal(attemptOf(w, 'a', 1).lateResult, true);
      for (const word of ['complete', 'fail', 'stopped'] as const) {
        const again = say(w, word, 'a', { number: 1 });
        expectAnswer(again, 'rejected Stale');
        assert.deepEqual(factsOf(again), []);
      }
      assert.deepEqual([jobOf(w, 'a').state, attemptOf(w, 'a', 1).state], [phase, 'Lost']);
      expectAnswer(say(w, rightWord[phase], 'a'), 'accepted');
    }
  }),
  behaviour('a late message that is no result is refused without a trace', (world) => {
    const w = world([job('a')]);
    replaced(w, 'Running');
    for (const word of ['accept', 'start', 'finish', 'decline'] as const) {
      const answer = say(w, word, 'a', { number: 1 });
      expectAnswer(answer, 'rejected Stale');
      assert.deepEqual(factsOf(answer), []);
    }
  }),
  behaviour('an old attempt is stale for its own session only; for others it is foreign', (world) => {
    const w = world([job('a')]);
    replaced(w, 'Running');
    const strangers: readonly Partial<Authority>[] = [
      { session: sessionOf('bob') },
      { runner: idOf('bob') },
      { epoch: 2 },
      { lease: leaseOf(w, 'a', 2).id },
    ];
    for (const tampered of strangers) {
      const answer = say(w, 'complete', 'a', { number: 1, tampered });
      expectAnswer(answer, 'rejected Foreign');
      assert.deepEqual(factsOf(answer), []);
    }
  }),
  behaviour('a result on an expired lease nobody has judged yet is late, and the attempt is still lost', (world) => {
    for (const phase of ['Preparing', 'Running', 'UploadingOutputs'] as const) {
      const w = world([job('a')]);
      bringTo(w, 'a', phase);
      w.now += w.limits.leaseTtlMs;
      const word = phase === 'UploadingOutputs' ? 'complete' : 'fail';
      const late = say(w, word, 'a');
      expectAnswer(late, 'rejected LeaseExpired');
      assert.deepEqual(factsOf(late), ['LateAttemptResultRejected:LateResult']);
      assert.deepEqual(factsOf(say(w, word, 'a')), []);
      expectAnswer(w.submit(expireLease(w, 'a')), 'accepted');
      assert.equal(attemptOf(w, 'a').state, 'Lost');
    }
    const offered = world([job('a')]);
    bringTo(offered, 'a', 'Leased');
    offered.now += offered.limits.offerTtlMs;
    assert.deepEqual(factsOf(say(offered, 'fail', 'a')), ['LateAttemptResultRejected:LateResult']);
    assert.deepEqual(factsOf(say(offered, 'fail', 'a')), []);
  }),
  behaviour('000 §375.30: an attempt that has ended never changes its outcome, whatever comes late', (world) => {
    const w = world([job('a', { retry: { attempts: 9, on: ['UserCommand'] } })]);
    bringTo(w, 'a', 'Leased');
    say(w, 'decline', 'a');
    bringTo(w, 'a', 'Running');
    say(w, 'fail', 'a');
    bringTo(w, 'a', 'Running');
    w.now += w.limits.leaseTtlMs;
    w.submit(expireLease(w, 'a'));
    w.followUp();
    succeed(w, 'a');
    const ends = () =>
      [1, 2, 3, 4].map((number) => attemptOf(w, 'a', number)).map(({ state, version }) => [state, version]);
    const before = ends();
    assert.deepEqual(
      before.map(([state]) => state),
      ['Rejected', 'Failed', 'Lost', 'Succeeded'],
    );
    for (const number of [1, 2, 3, 4]) {
      for (const word of ['accept', 'start', 'finish', 'complete', 'fail', 'stopped'] as const) {
        expectUntouched(w, () => say(w, word, 'a', { number }), 'rejected Stale');
      }
      assert.equal(attemptOf(w, 'a', number).lateResult, true);
      const { id } = attemptOf(w, 'a', number);
      const late = w.facts.filter((fact) => fact.type === 'LateAttemptResultRejected' && fact.id === id);
      assert.equal(late.length, 1);
    }
    assert.deepEqual(ends(), before);
  }),
  behaviour('an attempt that was cancelled or timed out takes note of one late result', (world) => {
    const w = world([job('a', { timeouts: { execution: '5s' } }), job('b')]);
    bringTo(w, 'a', 'Running');
    bringTo(w, 'b', 'Running');
    w.now += 5_000;
    w.submit({ type: 'ReachPhaseTimeout', job: jobOf(w, 'a').id, attempt: attemptOf(w, 'a').id, phase: 'execution' });
    w.submit({ type: 'CancelJob', job: jobOf(w, 'b').id, message: null });
    for (const node of ['a', 'b']) expectAnswer(say(w, 'stopped', node), 'accepted');
    assert.deepEqual([attemptOf(w, 'a').state, attemptOf(w, 'b').state], ['TimedOut', 'Cancelled']);
    for (const node of ['a', 'b']) {
      assert.deepEqual(factsOf(say(w, 'complete', node)), ['LateAttemptResultRejected:LateResult']);
      assert.deepEqual(factsOf(say(w, 'complete', node)), []);
    }
  }),
  behaviour('accept: a session that no longer takes work may not take the offer', (world) => {
    const w = world([job('a')]);
    grant(w, 'a', 'ada');
    w.inactive.add(sessionOf('ada'));
    expectUntouched(w, () => say(w, 'accept', 'a'), 'rejected SessionNotActive');
    w.inactive.clear();
    expectAnswer(say(w, 'accept', 'a'), 'accepted');
    w.inactive.add(sessionOf('ada'));
    expectAnswer(say(w, 'accept', 'a'), 'no-op AlreadyDone');
    expectAnswer(say(w, 'start', 'a'), 'accepted');
  }),
];
