import assert from 'node:assert/strict';
import { job } from '../../machines/plan/index.ts';
import {
  attemptOf,
  authorityFor,
  bringTo,
  cancelJob,
  deadlinesOf,
  expireLease,
  failing,
  grant,
  grantCommand,
  jobOf,
  leaseOf,
  oneOutput,
  say,
  sessionOf,
  skipJob,
  succeed,
} from '../core/index.ts';
import { behaviour, expectAnswer, expectUntouched, factsOf } from './behaviour.ts';

/** The life of a job from grant to success (000 §36-46, §113-125). */
export const phases = [
  behaviour('000 §375.3: grant: only an Eligible job receives a lease', (world) => {
    const w = world([job('a', { retry: { backoff: '5s' } }), job('b', { needs: ['a'] })]);
    expectAnswer(grant(w, 'b'), 'rejected IllegalTransition');
    expectAnswer(grant(w, 'a'), 'accepted');
    for (const word of ['accept', 'start', 'finish'] as const) {
      expectUntouched(w, () => grant(w, 'a'), 'rejected IllegalTransition');
      expectAnswer(say(w, word, 'a'), 'accepted');
    }
    expectAnswer(grant(w, 'a'), 'rejected IllegalTransition');
    expectAnswer(say(w, 'fail', 'a', { failureClass: 'Infrastructure' }), 'accepted');
    assert.equal(jobOf(w, 'a').state, 'RetryWaiting');
    expectAnswer(grant(w, 'a'), 'rejected IllegalTransition');
    w.now += 5_000;
    expectAnswer(w.submit({ type: 'ReachRetryTime', job: jobOf(w, 'a').id }), 'accepted');
    succeed(w, 'a');
    expectAnswer(grant(w, 'a'), 'rejected AlreadyTerminal');
  }),
  behaviour('000 §375.4: grant: lease and attempt come into being in one commit, bound to each other', (world) => {
    const w = world([job('a')]);
    const decision = grant(w, 'a', 'ada', ['linux']);
    assert.deepEqual(factsOf(decision), ['AttemptCreated:Granted', 'LeaseGranted:Granted', 'JobLeased:Granted']);
    const [attempt, lease, row] = [attemptOf(w, 'a'), leaseOf(w, 'a'), jobOf(w, 'a')];
    assert.equal(lease.state, 'Offered');
    assert.equal(lease.expiresAt, w.now + w.limits.offerTtlMs);
    assert.deepEqual([attempt.number, attempt.epoch, attempt.leaseId], [1, lease.epoch, lease.id]);
    assert.deepEqual([row.currentAttempt, row.currentLease, row.leaseEpoch], [attempt.id, lease.id, 1]);
    assert.deepEqual([attempt.specDigest, attempt.capabilities], [row.specDigest, ['linux']]);
    assert.equal(decision.outcome === 'accepted' && decision.changes.guards[0]?.kind, 'session-active');
  }),
  behaviour('000 §376.4: grant: a lease binds job, attempt, runner, session and epoch', (world) => {
    const w = world([job('a')]);
    grant(w, 'a', 'ada.2');
    const [attempt, lease] = [attemptOf(w, 'a'), leaseOf(w, 'a')];
    assert.deepEqual(
      [lease.jobId, lease.attemptId, lease.runner, lease.session, lease.epoch],
      [jobOf(w, 'a').id, attempt.id, 'ada', 'ada.2', 1],
    );
    assert.deepEqual([attempt.runner, attempt.session], ['ada', 'ada.2']);
  }),
  behaviour('000 §376.24: grant: a draining session and one without the capabilities get nothing', (world) => {
    const w = world([job('a', { capabilities: ['gpu'] })]);
    w.inactive.add(sessionOf('ada'));
    expectAnswer(grant(w, 'a', 'ada', ['gpu']), 'rejected SessionNotActive');
    expectAnswer(grant(w, 'a', 'bob', ['linux']), 'rejected CapabilitiesUnmet');
    expectAnswer(grant(w, 'a', 'bob', ['linux', 'gpu']), 'accepted');
  }),
  behaviour('000 §375.5: grant: of two schedulers with the same view, the second changes nothing', (world) => {
    const w = world([job('a')]);
    const [first, second] = [grantCommand(w, 'a', 'ada'), grantCommand(w, 'a', 'bob')];
    expectAnswer(w.submit(first), 'accepted');
    expectUntouched(w, () => w.submit(second), 'rejected IllegalTransition');
    assert.equal([...w.leases.values()].length, 1);
  }),
  behaviour('000 §375.11: grant: a grant delivered again does not reuse the identity of an ended attempt', (world) => {
    const w = world([job('a')]);
    const first = grantCommand(w, 'a');
    w.submit(first);
    expectUntouched(w, () => w.submit(first), 'rejected InvalidCommand');
    say(w, 'decline', 'a');
    expectUntouched(w, () => w.submit(first), 'rejected InvalidCommand');
    expectAnswer(grant(w, 'a'), 'accepted');
    assert.equal(attemptOf(w, 'a').number, 2);
  }),
  behaviour('000 §375.6: start: no work without the current lease', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Preparing', 'ada');
    w.now += w.limits.leaseTtlMs;
    expectUntouched(w, () => say(w, 'start', 'a'), 'rejected LeaseExpired');
    w.submit(expireLease(w, 'a'));
    w.followUp();
    expectUntouched(w, () => say(w, 'start', 'a'), 'rejected Stale');
    bringTo(w, 'a', 'Preparing', 'bob');
    expectUntouched(w, () => say(w, 'start', 'a', { number: 1 }), 'rejected Stale');
    expectAnswer(say(w, 'start', 'a'), 'accepted');
  }),
  behaviour('000 §375.7: start: Preparing -> Running is a step of its own', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Leased');
    expectUntouched(w, () => say(w, 'start', 'a'), 'rejected OutOfOrder');
    assert.deepEqual(factsOf(say(w, 'accept', 'a')), [
      'LeaseAccepted:Accepted',
      'JobPreparing:Accepted',
      'RunStarted:FirstWork',
    ]);
    assert.equal(attemptOf(w, 'a').state, 'Preparing');
    assert.equal(attemptOf(w, 'a').preparingAt, w.now);
    assert.deepEqual([leaseOf(w, 'a').state, leaseOf(w, 'a').expiresAt], ['Held', w.now + w.limits.leaseTtlMs]);
    assert.deepEqual(factsOf(say(w, 'start', 'a')), ['JobStarted:WorkStarted']);
    assert.equal(jobOf(w, 'a').startedAt, w.now);
    assert.equal(attemptOf(w, 'a').state, 'Running');
  }),
  behaviour('000 §375.8: finish: Running -> UploadingOutputs is a step of its own', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Preparing');
    expectUntouched(w, () => say(w, 'finish', 'a'), 'rejected OutOfOrder');
    say(w, 'start', 'a');
    expectUntouched(w, () => say(w, 'complete', 'a'), 'rejected OutOfOrder');
    assert.deepEqual(factsOf(say(w, 'finish', 'a')), ['JobUploadingOutputs:WorkFinished']);
    assert.deepEqual([jobOf(w, 'a').state, attemptOf(w, 'a').state], ['UploadingOutputs', 'UploadingOutputs']);
  }),
  behaviour('000 §375.9, 000 §376.8, 000 §376.9: complete: no success before the outputs are verified', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'UploadingOutputs');
    expectUntouched(w, () => say(w, 'complete', 'a', { unverified: true }), 'rejected OutputsUnverified');
    assert.equal(leaseOf(w, 'a').state, 'Held');
    const decision = say(w, 'complete', 'a');
    assert.deepEqual(factsOf(decision), [
      'AttemptEnded:OutputsVerified',
      'LeaseReleased:OutputsVerified',
      'JobSucceeded:OutputsVerified',
      'RunSucceeded:RequiredJobsSucceeded',
    ]);
    assert.deepEqual([jobOf(w, 'a').executionSource, jobOf(w, 'a').outputs], ['Executed', [oneOutput]]);
    const attempt = attemptOf(w, 'a');
    assert.deepEqual(
      [attempt.state, attempt.outputs, attempt.exit],
      ['Succeeded', [oneOutput], { code: 0, signal: null }],
    );
    assert.equal(leaseOf(w, 'a').state, 'Released');
    assert.equal(decision.outcome === 'accepted' && decision.changes.guards[0]?.kind, 'lease-live');
  }),
  behaviour(
    '000 §375.21, 000 §376.12, 000 §364.11: repeats of a phase are answered with the standing result',
    (world) => {
      const w = world([job('a')]);
      bringTo(w, 'a', 'Preparing');
      expectUntouched(w, () => say(w, 'accept', 'a'), 'no-op AlreadyDone');
      say(w, 'start', 'a');
      expectUntouched(w, () => say(w, 'accept', 'a'), 'no-op AlreadyDone');
      expectUntouched(w, () => say(w, 'start', 'a'), 'no-op AlreadyDone');
      say(w, 'finish', 'a');
      for (const word of ['accept', 'start', 'finish'] as const) {
        expectUntouched(w, () => say(w, word, 'a'), 'no-op AlreadyDone');
      }
      say(w, 'complete', 'a');
      const finished = w.state.run;
      expectUntouched(w, () => say(w, 'complete', 'a'), 'rejected Stale');
      expectUntouched(w, () => say(w, 'complete', 'a'), 'rejected Stale');
      assert.deepEqual([w.state.run.state, w.state.run.finishedAt], ['Succeeded', finished.finishedAt]);
    },
  ),
  behaviour('000 §376.13: out-of-order messages of the current attempt are refused in every phase', (world) => {
    const w = world([job('a')]);
    bringTo(w, 'a', 'Leased');
    for (const word of ['start', 'finish', 'complete', 'fail', 'stopped'] as const) {
      expectUntouched(w, () => say(w, word, 'a'), 'rejected OutOfOrder');
    }
    say(w, 'accept', 'a');
    for (const word of ['finish', 'complete'] as const)
      expectUntouched(w, () => say(w, word, 'a'), 'rejected OutOfOrder');
    expectUntouched(w, () => say(w, 'decline', 'a'), 'rejected IllegalTransition');
    expectUntouched(w, () => say(w, 'stopped', 'a'), 'rejected NoTerminationRequested');
    say(w, 'start', 'a');
    expectUntouched(w, () => say(w, 'complete', 'a'), 'rejected OutOfOrder');
    expectUntouched(w, () => say(w, 'stopped', 'a'), 'rejected NoTerminationRequested');
    expectUntouched(w, () => say(w, 'decline', 'a'), 'rejected IllegalTransition');
    say(w, 'finish', 'a');
    expectUntouched(w, () => say(w, 'stopped', 'a'), 'rejected NoTerminationRequested');
    expectUntouched(w, () => say(w, 'decline', 'a'), 'rejected IllegalTransition');
  }),
  behaviour('a runner cannot cancel a job, in any phase', (world) => {
    for (const phase of ['Preparing', 'Running', 'UploadingOutputs'] as const) {
      const w = world([job('a')]);
      bringTo(w, 'a', phase);
      expectUntouched(w, () => say(w, 'fail', 'a', { failureClass: 'Cancelled' }), 'rejected RunnerMayNotCancel');
      w.submit(cancelJob(w, 'a'));
      expectUntouched(w, () => say(w, 'fail', 'a', { failureClass: 'Cancelled' }), 'rejected RunnerMayNotCancel');
    }
  }),
  behaviour('000 §375.26: cache: verified outputs of an equal job end it without an attempt', (world) => {
    const w = world([job('a'), job('b', { needs: ['a'] })]);
    const hit = (node: string) =>
      w.submit({ type: 'ResolveCacheHit', job: jobOf(w, node).id, outputs: [oneOutput] }, 'system:cache');
    expectUntouched(w, () => hit('b'), 'rejected IllegalTransition');
    assert.deepEqual(factsOf(hit('a')), ['JobSucceeded:ActionCacheHit', 'JobEligible:DependenciesSatisfied']);
    assert.deepEqual([jobOf(w, 'a').executionSource, jobOf(w, 'a').attemptCount], ['CacheHit', 0]);
    assert.deepEqual(jobOf(w, 'a').outputs, [oneOutput]);
    expectUntouched(w, () => hit('a'), 'rejected AlreadyTerminal');
    grant(w, 'b');
    expectUntouched(w, () => hit('b'), 'rejected IllegalTransition');
    say(w, 'accept', 'b');
    expectUntouched(w, () => hit('b'), 'rejected IllegalTransition');
  }),
  behaviour('a skip on request satisfies what depends on it, and only a waiting job is skipped', (world) => {
    const w = world([job('a'), job('b', { needs: ['a'] }), job('c', { needs: ['b'] })]);
    const skipped = w.submit(skipJob(w, 'b', 'not today'));
    assert.deepEqual(factsOf(skipped), ['JobSkipped:Manual', 'JobEligible:DependenciesSatisfied']);
    assert.deepEqual(jobOf(w, 'b').reason, { code: 'Manual', message: 'not today' });
    assert.equal(jobOf(w, 'b').satisfies, true);
    w.followUp();
    assert.equal(jobOf(w, 'c').state, 'Eligible');
    expectUntouched(w, () => w.submit(skipJob(w, 'b')), 'rejected AlreadyTerminal');
    expectAnswer(w.submit(skipJob(w, 'a')), 'accepted');
    for (const phase of ['Leased', 'Preparing', 'Running', 'UploadingOutputs'] as const) {
      const other = world([job('a')]);
      bringTo(other, 'a', phase);
      expectUntouched(other, () => other.submit(skipJob(other, 'a')), 'rejected IllegalTransition');
    }
  }),
  behaviour('000 §376.20, 003 §303.14: every deadline is a row: phases arm theirs and leave none behind', (world) => {
    const timeouts = { queue: '1m', preparation: '2m', execution: '3m', upload: '4m' };
    const w = world([job('a', { timeouts })], { deadline: '1h' });
    const kinds = () =>
      deadlinesOf(w.state)
        .map(({ kind, dueAt }) => `${kind} ${dueAt - w.now}`)
        .sort();
    assert.deepEqual(kinds(), ['queue 60000', 'run-deadline 3600000']);
    grant(w, 'a');
    assert.deepEqual(kinds(), ['offer 10000', 'run-deadline 3600000']);
    say(w, 'accept', 'a');
    assert.deepEqual(kinds(), ['lease 30000', 'preparation 120000', 'run-deadline 3600000']);
    say(w, 'start', 'a');
    assert.deepEqual(kinds(), ['execution 180000', 'lease 30000', 'run-deadline 3600000']);
    say(w, 'finish', 'a');
    assert.deepEqual(kinds(), ['lease 30000', 'run-deadline 3600000', 'upload 240000']);
    say(w, 'complete', 'a');
    assert.deepEqual(kinds(), []);
    assert.equal(w.timers.size, 0);
  }),
  behaviour('an execution timeout that includes preparation starts with it and is not armed anew', (world) => {
    const w = world([job('a', { timeouts: { execution: '1m', executionIncludesPreparation: true } })]);
    bringTo(w, 'a', 'Preparing');
    const due = w.now + 60_000;
    assert.equal(attemptOf(w, 'a').executionDeadlineAt, due);
    w.now += 10_000;
    say(w, 'start', 'a');
    assert.equal(attemptOf(w, 'a').executionDeadlineAt, due);
  }),
  behaviour('000 §376.28, 000 §375.34: facts alone retell the life of a job, attempt by attempt', (world) => {
    const w = world([job('a', { retry: { attempts: 2, on: ['UserCommand'] } })]);
    failing(w, 'a');
    w.now += 1_000;
    succeed(w, 'a', 'bob');
    assert.deepEqual(
      w.facts.map(({ type }) => type),
      [
        ...['RunCreated', 'JobEligible'],
        ...['AttemptCreated', 'LeaseGranted', 'JobLeased', 'LeaseAccepted', 'JobPreparing', 'RunStarted', 'JobStarted'],
        ...['AttemptEnded', 'LeaseReleased', 'JobEligible'],
        ...['AttemptCreated', 'LeaseGranted', 'JobLeased', 'LeaseAccepted', 'JobPreparing', 'JobStarted'],
        ...['JobUploadingOutputs', 'AttemptEnded', 'LeaseReleased', 'JobSucceeded', 'RunSucceeded'],
      ],
    );
    assert.deepEqual(
      [...w.attempts.values()].map(({ number, state, failureClass, session }) => [
        number,
        state,
        failureClass,
        session,
      ]),
      [
        [1, 'Failed', 'UserCommand', 'ada'],
        [2, 'Succeeded', null, 'bob'],
      ],
    );
    assert.equal(w.shadow.job(0).state, 'Succeeded');
    assert.equal(authorityFor(w, 'a').epoch, 2);
  }),
];
