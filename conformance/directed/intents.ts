import assert from 'node:assert/strict';
import type { Command, RunId } from '../../machines/index.ts';
import { gate, job } from '../../machines/plan/index.ts';
import type { Phase, World } from '../core/index.ts';
import {
  attemptOf,
  bringTo,
  cancelJob,
  cancelRun,
  expireLease,
  failing,
  gateOf,
  grant,
  idOf,
  jobOf,
  leaseOf,
  say,
  sessionOf,
  skipJob,
  succeed,
} from '../core/index.ts';
import { behaviour, expectAnswer, expectUntouched, factsOf } from './behaviour.ts';

const held: readonly Phase[] = ['Preparing', 'Running', 'UploadingOutputs'];
const newer: Command = { type: 'SupersedeRun', by: idOf<RunId>('00000000-0000-7000-8000-00000000aaaa') };
const deadline: Command = { type: 'ReachRunDeadline' };

/** The three ways a run is ended from outside, the state each leads to, and what its jobs are told. */
const runIntents = [
  { command: cancelRun, ends: 'Cancelled', kind: 'Cancelled', reason: 'RunCancelled' },
  { command: newer, ends: 'Superseded', kind: 'Superseded', reason: 'Superseded' },
  { command: deadline, ends: 'TimedOut', kind: 'Cancelled', reason: 'RunDeadline' },
] as const;
const withDeadline = { deadline: '1h' };

function endRun(world: World, command: Command) {
  if (command.type === 'ReachRunDeadline') {
    for (const lease of world.state.leases.values()) if (lease.state === 'Held') world.renew(lease.id);
    world.now = world.state.run.deadlineAt ?? world.now;
  }
  return world.submit(command);
}

/** A lease long enough to be alive at the deadline of the run. */
const steady = { connectivity: { grace: '2h' } };

/** What ends a run or a job from outside (000 §66-73, §129-134, §231-237, §347-352). */
export const intents = [
  behaviour('000 §375.17: run intent: what waits ends in the same commit, and so does the run', (world) => {
    for (const { command, ends, reason } of runIntents) {
      const w = world([job('a'), job('b', { needs: ['a'] }), gate('g', { needs: ['a'] }), gate('h')], withDeadline);
      const decision = endRun(w, command);
      const last = `Run${ends}:${reason}`;
      assert.deepEqual(factsOf(decision), [
        `JobCancelled:${reason}`,
        `JobCancelled:${reason}`,
        `GateCancelled:${reason}`,
        `GateCancelled:${reason}`,
        last,
      ]);
      assert.equal(w.state.run.state, ends);
    }
  }),
  behaviour('run intent: a run that holds no job ends at once, without cancelling first', (world) => {
    for (const { command, ends, reason } of runIntents) {
      const w = world([job('a'), job('b', { needs: ['a'] })], withDeadline);
      succeed(w, 'a');
      assert.equal(w.state.run.state, 'Running');
      assert.deepEqual(factsOf(endRun(w, command)), [`JobCancelled:${reason}`, `Run${ends}:${reason}`]);
      assert.equal(w.state.run.intent?.kind, ends);
    }
  }),
  behaviour('run intent: an offer is revoked, its attempt and job end at once', (world) => {
    for (const { command, ends, reason } of runIntents) {
      const w = world([job('a')], withDeadline);
      bringTo(w, 'a', 'Leased');
      endRun(w, command);
      assert.deepEqual(
        [w.state.run.state, jobOf(w, 'a').state, jobOf(w, 'a').reason?.code],
        [ends, 'Cancelled', reason],
      );
      assert.deepEqual([attemptOf(w, 'a').state, leaseOf(w, 'a').state], ['Cancelled', 'Revoked']);
      assert.equal(jobOf(w, 'a').currentLease, null);
    }
  }),
  behaviour('000 §375.18: run intent: held jobs are asked to stop, and the run ends with the last of them', (world) => {
    for (const phase of held) {
      for (const { command, ends, kind, reason } of runIntents) {
        const w = world([job('a', steady), job('b', steady), job('c', { needs: ['a'] })], withDeadline);
        bringTo(w, 'a', phase);
        bringTo(w, 'b', phase);
        endRun(w, command);
        assert.deepEqual([w.state.run.state, jobOf(w, 'c').state], ['Cancelling', 'Cancelled']);
        assert.deepEqual(jobOf(w, 'a').intent, { kind, reason });
        assert.equal(jobOf(w, 'a').terminateBy, w.now + 10_000);
        expectAnswer(say(w, 'stopped', 'a'), 'accepted');
        assert.equal(w.state.run.state, 'Cancelling');
        const last = say(w, 'fail', 'b');
        assert.equal(factsOf(last).at(-1), `Run${ends}:${reason}`);
        assert.deepEqual(
          [w.state.run.state, jobOf(w, 'a').state, jobOf(w, 'b').state],
          [ends, 'Cancelled', 'Cancelled'],
        );
        assert.deepEqual([attemptOf(w, 'a').state, leaseOf(w, 'a').state], ['Cancelled', 'Released']);
        assert.equal(attemptOf(w, 'b').state, 'Cancelled');
      }
    }
  }),
  behaviour('run intent: the first one stands; later ones are told so', (world) => {
    for (const { command, kind, reason } of runIntents) {
      const w = world([job('a', steady)], withDeadline);
      bringTo(w, 'a', 'Running');
      endRun(w, command);
      w.now = 1_000_000 + 3_600_000;
      for (const later of runIntents) expectUntouched(w, () => w.submit(later.command), 'no-op AlreadyTerminating');
      assert.deepEqual(jobOf(w, 'a').intent, { kind, reason });
      say(w, 'stopped', 'a');
      for (const later of runIntents) expectUntouched(w, () => w.submit(later.command), 'no-op AlreadyTerminal');
    }
  }),
  behaviour('000 §375.29, 000 §376.7: a run that has ended never reopens', (world) => {
    const w = world([job('a'), job('b', { needs: ['a'] })], withDeadline);
    succeed(w, 'a');
    failing(w, 'b');
    assert.equal(w.state.run.state, 'Failed');
    w.now += 3_600_000;
    for (const { command } of runIntents) expectUntouched(w, () => w.submit(command), 'no-op AlreadyTerminal');
    expectUntouched(w, () => grant(w, 'b'), 'rejected AlreadyTerminal');
    expectUntouched(w, () => w.submit(cancelJob(w, 'b')), 'rejected AlreadyTerminal');
    expectUntouched(w, () => w.submit({ type: 'ChangePriority', priority: 3 }), 'rejected AlreadyTerminal');
    expectUntouched(w, () => w.submit({ type: 'JudgeNodes', nodes: [0, 1] }), 'no-op NothingDue');
    expectUntouched(w, () => w.submit({ type: 'ReachRetryTime', job: jobOf(w, 'b').id }), 'rejected AlreadyTerminal');
  }),
  behaviour('000 §375.29: a run that succeeded answers every later end with its own', (world) => {
    const w = world([job('a')], withDeadline);
    succeed(w, 'a');
    w.now += 3_600_000;
    for (const { command } of runIntents) expectUntouched(w, () => w.submit(command), 'no-op AlreadyTerminal');
    expectUntouched(w, () => grant(w, 'a'), 'rejected AlreadyTerminal');
  }),
  behaviour('a run deadline is not reached a millisecond early', (world) => {
    const w = world([job('a')], withDeadline);
    w.now += 3_599_999;
    expectUntouched(w, () => w.submit(deadline), 'no-op NotDue');
    bringTo(w, 'a', 'Preparing');
    expectUntouched(w, () => w.submit(deadline), 'no-op NotDue');
    w.now += 1;
    expectAnswer(w.submit(deadline), 'accepted');
    const unbounded = world([job('a')]);
    expectUntouched(unbounded, () => unbounded.submit(deadline), 'no-op NotDue');
  }),
  behaviour('a superseded run remembers its successor, a cancelled one nobody', (world) => {
    const w = world([job('a')]);
    w.submit(newer);
    assert.equal(w.state.run.intent?.supersededBy, newer.type === 'SupersedeRun' && newer.by);
    assert.deepEqual([w.state.run.intent?.requestedAt, w.state.run.intent?.kind], [w.now, 'Superseded']);
    const other = world([job('a')]);
    other.submit({ type: 'CancelRun', message: 'wrong branch' });
    assert.deepEqual([other.state.run.intent?.supersededBy, other.state.run.reason?.message], [null, 'wrong branch']);
  }),
  behaviour('run intent: jobs between two attempts end at once', (world) => {
    const w = world([job('a', { retry: { backoff: '5s' } }), job('b')]);
    failing(w, 'a', 'Infrastructure');
    bringTo(w, 'b', 'Running');
    w.now = leaseOf(w, 'b').expiresAt;
    w.submit(expireLease(w, 'b'));
    assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'b').state], ['RetryWaiting', 'Lost']);
    w.submit(cancelRun);
    assert.deepEqual(
      [w.state.run.state, jobOf(w, 'a').state, jobOf(w, 'b').state],
      ['Cancelled', 'Cancelled', 'Cancelled'],
    );
    expectAnswer(w.submit({ type: 'ResolveLost', job: jobOf(w, 'b').id }), 'no-op NothingDue');
  }),
  behaviour('000 §375.16, 000 §376.14: a cancelled job is Cancelled, whatever its runner reports', (world) => {
    for (const phase of held) {
      for (const word of ['fail', 'stopped'] as const) {
        const w = world([job('a', { retry: { attempts: 3, on: ['UserCommand'] } })]);
        bringTo(w, 'a', phase);
        const decision = w.submit(cancelJob(w, 'a'));
        assert.deepEqual(factsOf(decision), ['JobTerminationRequested:OperatorCancelled']);
        assert.deepEqual(decision.outcome === 'accepted' && decision.reply, {
          kind: 'job',
          state: phase,
          intent: 'Cancelled',
        });
        expectAnswer(say(w, word, 'a'), 'accepted');
        const row = jobOf(w, 'a');
        assert.deepEqual([row.state, row.reason?.code, row.failureClass], ['Cancelled', 'OperatorCancelled', null]);
        assert.deepEqual([row.workloadFailures, row.terminateBy, attemptOf(w, 'a').state], [0, null, 'Cancelled']);
        const { exit, failureDetail } = attemptOf(w, 'a');
        assert.deepEqual(
          [exit?.code, failureDetail?.message],
          [word === 'fail' ? 1 : 130, word === 'fail' ? null : undefined],
        );
        assert.deepEqual([w.state.run.state, w.state.run.reason?.code], ['Cancelled', 'RequiredJobCancelled']);
      }
    }
  }),
  behaviour('a job that waits is cancelled at once, and nothing brings it back', (world) => {
    const w = world([job('a'), job('b', { needs: ['a'] }), job('c', { retry: { backoff: '5s' } }), job('d')]);
    failing(w, 'c', 'Infrastructure');
    bringTo(w, 'd', 'Leased');
    for (const node of ['a', 'b', 'c', 'd']) {
      expectAnswer(w.submit(cancelJob(w, node)), node === 'b' ? 'rejected AlreadyTerminal' : 'accepted');
    }
    assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'b').state], ['Cancelled', 'Skipped']);
    assert.deepEqual(
      [jobOf(w, 'c').state, jobOf(w, 'd').state, leaseOf(w, 'd').state],
      ['Cancelled', 'Cancelled', 'Revoked'],
    );
    for (const node of ['a', 'c', 'd']) expectUntouched(w, () => grant(w, node), 'rejected AlreadyTerminal');
    assert.equal(w.state.run.state, 'Cancelled');
    const pending = world([job('a'), job('b', { needs: ['a'] })]);
    pending.submit(cancelJob(pending, 'b'));
    assert.deepEqual([jobOf(pending, 'b').state, jobOf(pending, 'b').intent], ['Cancelled', null]);
  }),
  behaviour('a lost job is cancelled at once', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Running');
    w.now = leaseOf(w, 'a').expiresAt;
    w.submit(expireLease(w, 'a'));
    assert.deepEqual(factsOf(w.submit(cancelJob(w, 'a'))), [
      'JobCancelled:OperatorCancelled',
      'RunCancelled:RequiredJobCancelled',
    ]);
    assert.equal(attemptOf(w, 'a').state, 'Lost');
  }),
  behaviour('job intent: the first that stops stands, and the bound it set stays', (world) => {
    for (const phase of held) {
      const w = world([job('a', steady), job('b')]);
      bringTo(w, 'a', phase);
      w.submit(cancelJob(w, 'a'));
      const bound = jobOf(w, 'a').terminateBy;
      w.now += 1_000;
      expectUntouched(w, () => w.submit(cancelJob(w, 'a')), 'no-op AlreadyDone');
      w.submit(cancelRun);
      assert.deepEqual([jobOf(w, 'a').intent?.reason, jobOf(w, 'a').terminateBy], ['OperatorCancelled', bound]);
      assert.equal(w.state.run.state, 'Cancelling');
    }
  }),
  behaviour('start: with an intent the workload is not launched, and the attempt ends', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Preparing');
    w.submit(cancelJob(w, 'a'));
    const decision = say(w, 'start', 'a');
    expectAnswer(decision, 'accepted');
    assert.deepEqual(decision.outcome === 'accepted' && decision.reply, {
      kind: 'directive',
      directive: {
        kind: 'cancel',
        intent: { kind: 'Cancelled', reason: 'OperatorCancelled' },
        expiresAt: leaseOf(w, 'a').expiresAt,
      },
    });
    assert.deepEqual(
      [jobOf(w, 'a').state, jobOf(w, 'a').startedAt, leaseOf(w, 'a').state],
      ['Cancelled', null, 'Released'],
    );
  }),
  behaviour('a phase that moves under an intent is told to cancel', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Running');
    const directive = (decision: ReturnType<typeof say>) =>
      decision.outcome !== 'rejected' && decision.reply.kind === 'directive' && decision.reply.directive.kind;
    assert.equal(directive(say(w, 'start', 'a')), 'continue');
    w.submit(cancelJob(w, 'a'));
    assert.equal(directive(say(w, 'start', 'a')), 'cancel');
    assert.equal(directive(say(w, 'finish', 'a')), 'cancel');
    assert.equal(jobOf(w, 'a').state, 'UploadingOutputs');
    assert.equal(jobOf(w, 'a').intent?.kind, 'Cancelled');
  }),
  behaviour('000 §364.7: cancel against success: whoever commits first decides', (world) => {
    const w = world([job('a'), job('b')]);
    succeed(w, 'a');
    const late = w.submit(cancelJob(w, 'a'));
    expectAnswer(late, 'rejected AlreadyTerminal');
    assert.match(late.outcome === 'rejected' ? late.detail : '', /Succeeded/);
    bringTo(w, 'b', 'UploadingOutputs');
    w.submit(cancelJob(w, 'b'));
    assert.deepEqual(factsOf(say(w, 'complete', 'b')), [
      'AttemptEnded:OperatorCancelled',
      'LeaseReleased:OutputsVerified',
      'JobCancelled:OperatorCancelled',
      'RunCancelled:RequiredJobCancelled',
    ]);
    assert.deepEqual([attemptOf(w, 'b').state, attemptOf(w, 'b').outputs.length], ['Cancelled', 1]);
    assert.equal(attemptOf(w, 'b').exit?.code, 0);
    assert.deepEqual([jobOf(w, 'b').outputs, jobOf(w, 'b').executionSource], [[], null]);
  }),
  behaviour('completion after intent: a plan may let a success stand against any intent', (world) => {
    for (const { command, ends } of runIntents) {
      const w = world([job('a', { completionAfterIntent: 'accept_success', ...steady })], withDeadline);
      bringTo(w, 'a', 'UploadingOutputs');
      endRun(w, command);
      expectUntouched(w, () => say(w, 'complete', 'a', { unverified: true }), 'rejected OutputsUnverified');
      const decision = say(w, 'complete', 'a');
      assert.ok(factsOf(decision).includes('JobSucceeded:AcceptedDespiteIntent'));
      assert.deepEqual([jobOf(w, 'a').executionSource, attemptOf(w, 'a').state], ['Executed', 'Succeeded']);
      assert.equal(w.state.run.state, ends);
    }
    const timed = world([job('a', { completionAfterIntent: 'accept_success', timeouts: { upload: '5s' } })]);
    bringTo(timed, 'a', 'UploadingOutputs');
    timed.now += 5_000;
    const due = { type: 'ReachPhaseTimeout', job: jobOf(timed, 'a').id, attempt: attemptOf(timed, 'a').id } as const;
    timed.submit({ ...due, phase: 'upload' });
    say(timed, 'complete', 'a');
    assert.deepEqual([jobOf(timed, 'a').state, timed.state.run.state], ['Succeeded', 'Succeeded']);
  }),
  behaviour('completion after intent: a success that comes after a timeout is TimedOut and not retried', (world) => {
    const w = world([job('a', { timeouts: { upload: '5s' }, retry: { attempts: 3, on: ['Timeout'] } })]);
    bringTo(w, 'a', 'UploadingOutputs');
    w.now += 5_000;
    const due = { type: 'ReachPhaseTimeout', job: jobOf(w, 'a').id, attempt: attemptOf(w, 'a').id } as const;
    w.submit({ ...due, phase: 'upload' });
    expectUntouched(w, () => say(w, 'complete', 'a', { unverified: true }), 'rejected OutputsUnverified');
    say(w, 'complete', 'a');
    assert.deepEqual([jobOf(w, 'a').state, jobOf(w, 'a').reason?.code], ['TimedOut', 'UploadTimeout']);
    assert.deepEqual([attemptOf(w, 'a').state, attemptOf(w, 'a').outputs.length], ['TimedOut', 1]);
    assert.deepEqual([attemptOf(w, 'a').exit?.code, attemptOf(w, 'a').failureClass], [0, 'Timeout']);
    assert.deepEqual([jobOf(w, 'a').failureClass, jobOf(w, 'a').workloadFailures], ['Timeout', 1]);
  }),
  behaviour('a runner that ignores a cancel loses the lease, and the job ends as cancelled', (world) => {
    for (const phase of held) {
      const w = world([job('a')]);
      bringTo(w, 'a', phase);
      w.submit(cancelJob(w, 'a'));
      const bound = jobOf(w, 'a').terminateBy ?? 0;
      w.now += 5_000;
      w.renew(leaseOf(w, 'a').id);
      w.now = leaseOf(w, 'a').expiresAt;
      assert.equal(w.renew(leaseOf(w, 'a').id), false);
      assert.ok(bound <= w.now);
      assert.equal(factsOf(w.submit(expireLease(w, 'a')))[2], 'JobCancelled:OperatorCancelled');
      assert.deepEqual([attemptOf(w, 'a').state, leaseOf(w, 'a').state], ['Lost', 'Expired']);
    }
  }),
  behaviour('a renewal never goes past the bound of an intent', (world) => {
    const w = world([job('a', { timeouts: { grace: '20s' } })]);
    bringTo(w, 'a', 'Running');
    w.now += 15_000;
    w.submit(cancelJob(w, 'a'));
    assert.equal(w.renew(leaseOf(w, 'a').id), true);
    assert.equal(leaseOf(w, 'a').expiresAt, jobOf(w, 'a').terminateBy);
  }),
  behaviour('terminated after a run intent: the last confirmation drains the run, once', (world) => {
    const w = world([job('a'), job('b')]);
    bringTo(w, 'a', 'Running', 'ada');
    bringTo(w, 'b', 'Preparing', 'bob');
    w.submit(cancelRun);
    expectUntouched(w, () => w.submit({ type: 'JudgeNodes', nodes: [0, 1] }), 'no-op NothingDue');
    w.now = leaseOf(w, 'a').expiresAt;
    w.submit(expireLease(w, 'a'));
    assert.equal(w.state.run.state, 'Cancelling');
    w.submit(expireLease(w, 'b'));
    assert.deepEqual([w.state.run.state, w.state.run.finishedAt], ['Cancelled', w.now]);
    expectUntouched(w, () => w.submit({ type: 'JudgeNodes', nodes: [] }), 'no-op NothingDue');
  }),
  behaviour('nothing is skipped, granted or made eligible while a run is cancelling', (world) => {
    const w = world([job('a'), job('b', { needs: [{ job: 'a', condition: 'always' }] })]);
    bringTo(w, 'a', 'Running');
    w.submit(cancelRun);
    assert.equal(jobOf(w, 'b').state, 'Cancelled');
    expectUntouched(w, () => w.submit(skipJob(w, 'b')), 'rejected AlreadyTerminal');
    expectUntouched(w, () => grant(w, 'b', 'bob'), 'rejected AlreadyTerminal');
    w.inactive.add(sessionOf('ada'));
    say(w, 'stopped', 'a');
    assert.equal(w.state.run.state, 'Cancelled');
  }),
  behaviour('a gate that is open ends with the run', (world) => {
    const w = world([job('a'), gate('g')]);
    bringTo(w, 'a', 'Running');
    w.submit(cancelRun);
    assert.deepEqual([gateOf(w, 'g').state, gateOf(w, 'g').reason?.code], ['Cancelled', 'RunCancelled']);
    const approve = { type: 'DecideGate', gate: gateOf(w, 'g').id, verdict: 'approve', message: null } as const;
    expectUntouched(w, () => w.submit(approve), 'rejected AlreadyTerminal');
  }),
  behaviour('priority: changed while the run lives, also while it is cancelling; nonsense is refused', (world) => {
    const w = world([job('a')]);
    const to = (priority: number) => w.submit({ type: 'ChangePriority', priority });
    assert.deepEqual(factsOf(to(5)), ['RunPriorityChanged:PriorityRequested']);
    assert.equal(w.state.run.priority, 5);
    expectAnswer(to(5), 'no-op AlreadyDone');
    for (const wrong of [0.5, Number.NaN, w.limits.priorityMax + 1, -w.limits.priorityMax - 1]) {
      expectUntouched(w, () => to(wrong), 'rejected InvalidCommand');
    }
    expectAnswer(to(w.limits.priorityMax), 'accepted');
    bringTo(w, 'a', 'Running');
    expectAnswer(to(-w.limits.priorityMax), 'accepted');
    assert.equal(w.state.run.priority, -w.limits.priorityMax);
    w.submit(cancelRun);
    expectAnswer(to(7), 'accepted');
    assert.equal(w.state.run.priority, 7);
  }),
];
