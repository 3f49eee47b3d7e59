import assert from 'node:assert/strict';
import { isJobEnded } from '../../machines/index.ts';
import { gate, job } from '../../machines/plan/index.ts';
import { attemptOf, bringTo, cancelRun, failing, grant, jobOf, leaseOf, say, skipJob, succeed } from '../core/index.ts';
import { behaviour, expectAnswer } from './behaviour.ts';

/** What a run, a job, an attempt and a lease are to each other, and what never changes (000 §376). */
export const identities = [
  behaviour('000 §376.1: run, jobs, attempts and leases have identities of their own', (world) => {
    const w = world([job('a', { retry: { attempts: 2, on: ['UserCommand'] } }), job('b'), gate('g')]);
    failing(w, 'a');
    succeed(w, 'a');
    const ids: readonly string[] = [
      w.state.run.id,
      ...w.state.nodes.map(({ id }) => id),
      ...w.attempts.keys(),
      ...w.leases.keys(),
    ];
    assert.equal(ids.length, 1 + 3 + 2 + 2);
    assert.equal(new Set(ids).size, ids.length);
  }),
  behaviour('000 §376.2: a job is one piece of work, its attempts are its executions', (world) => {
    const w = world([job('a', { retry: { attempts: 3, on: ['UserCommand'] } })]);
    const { id } = jobOf(w, 'a');
    for (const number of [1, 2]) {
      failing(w, 'a');
      assert.deepEqual([jobOf(w, 'a').id, jobOf(w, 'a').attemptCount], [id, number]);
      assert.ok(!isJobEnded(jobOf(w, 'a').state));
      assert.equal(attemptOf(w, 'a', number).jobId, id);
      assert.equal(attemptOf(w, 'a', number).state, 'Failed');
    }
    succeed(w, 'a');
    assert.deepEqual(
      [...w.attempts.values()].map(({ number }) => number),
      [1, 2, 3],
    );
  }),
  behaviour(
    '000 §376.11, 003 §303.2: every accepted change stands in one commit with the facts that tell it',
    (world) => {
      const w = world([job('a'), job('b', { needs: ['a'] })]);
      for (const decision of [failing(w, 'a'), ...w.followUp()]) {
        if (decision.outcome !== 'accepted') throw new Error('a failure is accepted');
        const { run, facts, jobs } = decision.changes;
        assert.equal(run.sequence, facts.at(-1)?.sequence);
        for (const row of jobs)
          assert.ok(facts.some((fact) => fact.entity === 'job' && fact.id === row.id && fact.to === row.state));
      }
      assert.deepEqual(
        w.facts.map(({ sequence }) => sequence),
        w.facts.map((_, at) => at + 1),
      );
    },
  ),
  behaviour('003 §303.21: a fact is bounded, however much runners, people and plans have to say', (world) => {
    const long = 'x'.repeat(100_000);
    const capabilities = Array.from({ length: 64 }, (_, at) => `${at}`.padStart(128, 'c'));
    const w = world([job('a', { retry: { attempts: 2, on: ['UserCommand'] } }), job('b')]);
    for (let count = 1; count < w.limits.refusalsMax; count += 1) {
      grant(w, 'a', `session-${count}`, capabilities);
      expectAnswer(say(w, 'decline', 'a', { message: long }), 'accepted');
    }
    grant(w, 'a', 'ada', capabilities);
    for (const word of ['accept', 'start'] as const) say(w, word, 'a');
    expectAnswer(say(w, 'fail', 'a', { message: long }), 'accepted');
    w.submit(skipJob(w, 'b', long));
    w.submit({ type: 'CancelRun', message: long });
    assert.equal(w.state.run.state, 'Cancelled');
    const largest = Math.max(...w.facts.map((fact) => JSON.stringify(fact).length));
    assert.ok(largest > 9_000 && largest <= w.limits.factBytesMax, `${largest} bytes`);
  }),
  behaviour('000 §376.17: retries are judged by the plan, which no command and no attempt can change', (world) => {
    const w = world([job('a', { retry: { attempts: 2, on: ['UserCommand'] } })]);
    const before = JSON.stringify(w.plan);
    failing(w, 'a');
    assert.equal(jobOf(w, 'a').state, 'Eligible');
    bringTo(w, 'a', 'Running');
    // A runner that insists on another try does not get one.
    expectAnswer(say(w, 'fail', 'a', { transient: true }), 'accepted');
    assert.equal(jobOf(w, 'a').state, 'Failed');
    assert.equal(JSON.stringify(w.plan), before);
  }),
  behaviour(
    '000 §376.21: renewals are promises, not facts: a thousand of them leave no trace in the history',
    (world) => {
      const w = world([job('a')]);
      bringTo(w, 'a', 'Running');
      const { sequence, version } = w.state.run;
      const facts = w.facts.length;
      for (let beat = 0; beat < 1_000; beat += 1) {
        w.now += 10_000;
        assert.ok(w.renew(leaseOf(w, 'a').id));
      }
      assert.deepEqual([w.state.run.sequence, w.state.run.version, w.facts.length], [sequence, version, facts]);
      assert.equal(leaseOf(w, 'a').version, 2);
      expectAnswer(say(w, 'finish', 'a'), 'accepted');
    },
  ),
  behaviour('000 §376.29: plan, source and spec of a run are the same from its first fact to its last', (world) => {
    const w = world([job('a', { retry: { attempts: 2, on: ['UserCommand'] } }), job('b')]);
    const identity = () => {
      const { planDigest, source, requestId, createdBy, project } = w.state.run;
      return {
        planDigest,
        source,
        requestId,
        createdBy,
        project,
        specs: ['a', 'b'].map((node) => jobOf(w, node).specDigest),
      };
    };
    const before = identity();
    failing(w, 'a');
    succeed(w, 'a');
    w.submit({ type: 'ChangePriority', priority: 9 });
    w.submit(cancelRun);
    assert.deepEqual(identity(), before);
    for (const attempt of w.attempts.values()) assert.equal(attempt.specDigest, jobOf(w, 'a').specDigest);
    for (const fact of w.facts) {
      if (fact.entity === 'run' || fact.entity === 'job') {
        for (const fixed of ['planDigest', 'source', 'specDigest', 'id']) assert.ok(!Object.hasOwn(fact.set, fixed));
      }
    }
  }),
];
