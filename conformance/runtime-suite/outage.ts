import type { AttemptId, JobId, LeaseId, RunId, SessionId } from '../../machines/index.ts';
import { job } from '../../machines/plan/index.ts';
import type { Offer } from '../../runner/protocol/index.ts';
import type { Renewal } from '../../store/index.ts';
import { idOf } from '../core/index.ts';
import { user } from '../testkit/index.ts';
import { sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

const stale = { type: 'directive', directive: { kind: 'stale' } } as const;

export function outageTests({ describe, test, expect, heal, reports, patienceMs }: Kit): void {
  describe('outage credit', () => {
    test('000 §375.27: a lease alive when the control plane went away is given the time back, and the job goes on', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Running');
      await stage.pass(5_000);
      await runner.beat(offer);
      host.kill();
      stage.outage(40_000);
      const successor = await stage.host();
      await successor.runtime.start();
      const again = await stage.runner(successor, 'ada', { session: runner.session });
      expect(await again.beat(offer)).toEqual(['continue']);
      await again.finish(offer);
      await again.complete(offer);
      expect(await stage.states(run)).toEqual({ run: 'Succeeded', a: 'Succeeded' });
      expect((await stage.attempts(run, 'a')).length).toBe(1);
    });

    test('the first message after an outage is judged after the credit, whatever it is', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'UploadingOutputs');
      await host.runtime.start();
      stage.outage(40_000);
      expect(await runner.complete(offer)).toEqual({ type: 'ok' });
      expect(await stage.states(run)).toEqual({ run: 'Succeeded', a: 'Succeeded' });
      expect((await stage.story(run)).filter((type) => type === 'OutageCreditGranted').length).toBe(1);
    });

    test('two processes that find the gap grant one credit', async (stage) => {
      const { host, run } = await sceneAt(stage, 'Running');
      await stage.pass(3_000);
      const before = (await stage.leases(run, 'a'))[0]?.expiresAt ?? 0;
      host.kill();
      stage.outage(25_000);
      const successors = [await stage.host(), await stage.host()];
      await Promise.all(successors.map(({ runtime }) => runtime.start()));
      await stage.settle();
      for (const successor of successors) await heal(stage, successor);
      await stage.pass(3_000);
      for (const successor of successors) await heal(stage, successor);
      const lease = (await stage.leases(run, 'a'))[0];
      expect(lease).toMatchObject({ state: 'Held', expiresAt: before + 25_000, creditMs: 25_000 });
      expect((await stage.story(run)).filter((type) => type === 'OutageCreditGranted').length).toBe(1);
    });

    test('at most one ttl a gap, and at most two between two renewals', async (stage) => {
      const { run } = await sceneAt(stage, 'Running');
      await stage.pass(3_000);
      const before = (await stage.leases(run, 'a'))[0]?.expiresAt ?? 0;
      const { leaseTtlMs } = stage.limits;
      const outage = async (ms: number) => {
        stage.outage(ms);
        const successor = await stage.host();
        await successor.runtime.start();
        // Any command is judged after the credit.
        await successor.runtime.runs.changePriority(run, ms % 1_000, { actor: user });
        await stage.settle();
        await heal(stage, successor);
        await successor.runtime.stop();
        const [lease] = await stage.leases(run, 'a');
        return [lease?.state, lease?.creditMs, (lease?.expiresAt ?? 0) - before];
      };
      expect(await outage(leaseTtlMs + 10_001)).toEqual(['Held', leaseTtlMs, leaseTtlMs]);
      expect(await outage(12_002)).toEqual(['Held', leaseTtlMs + 12_002, leaseTtlMs + 12_002]);
      expect(await outage(20_003)).toEqual(['Held', 2 * leaseTtlMs, 2 * leaseTtlMs]);
      expect(await outage(20_004)).toEqual(['Expired', 2 * leaseTtlMs, 2 * leaseTtlMs]);
    });

    test('a renewal that arrives while the credit is just being committed waits for it', async (stage) => {
      const host = await stage.host();
      for (let turns = 0; turns < 40; turns += 2) {
        const { run, runner, offer } = await sceneAt(stage, 'Running', {}, { host });
        stage.outage(40_000);
        const asked = host.runtime.runs.changePriority(run, 1, { actor: user });
        for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
        expect(await runner.beat(offer)).toEqual(['continue']);
        await asked;
        await runner.fail(offer);
      }
    });

    test('what had expired before the gap stays expired', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('expired'), job('alive')]);
      const one = await stage.runner(host, 'ada', { slots: 1 });
      const two = await stage.runner(host, 'bob', { slots: 1 });
      const expired = await one.take('expired');
      await one.accept(expired);
      const alive = await two.take('alive');
      await two.accept(alive);
      host.kill();
      for (const beat of ['renewed', 'renewed']) {
        await stage.pass(20_000);
        const [outcome] = await stage.store.renew([renewalOf(alive)]);
        expect(outcome?.kind).toBe(beat);
      }
      stage.outage(25_000);
      const successor = await stage.host();
      await successor.runtime.start();
      await stage.settle();
      await heal(stage, successor);
      expect(await stage.states(run)).toMatchObject({ expired: 'Eligible', alive: 'Preparing' });
    });

    test('offers and queue deadlines move; phase and run deadlines do not', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(
        host,
        [
          job('offered'),
          job('queued', { timeouts: { queue: '15s' }, capabilities: ['nobody'] }),
          job('running', { timeouts: { execution: '12s' } }),
        ],
        { deadline: '1h' },
      );
      const runner = await stage.runner(host, 'ada');
      const running = await runner.take('running');
      await runner.accept(running);
      await runner.start(running);
      const offered = await runner.take('offered');
      const { deadlineAt } = await stage.run(run);
      host.kill();
      stage.outage(20_000);
      const successor = await stage.host();
      await successor.runtime.start();
      await stage.settle();
      await heal(stage, successor);
      expect(await stage.states(run)).toMatchObject({ offered: 'Leased', queued: 'Eligible', running: 'Running' });
      expect((await stage.job(run, 'running')).intent?.reason).toBe('ExecutionTimeout');
      expect((await stage.run(run)).deadlineAt).toBe(deadlineAt);
      const again = await stage.runner(successor, 'ada', { session: runner.session });
      expect(await again.accept(offered)).toMatchObject({ directive: { kind: 'continue' } });
      await stage.pass(15_000 + patienceMs);
      await heal(stage, successor);
      expect((await stage.job(run, 'queued')).state).toBe('TimedOut');
    });

    test('nothing is given to the leases of a host that is proven dead at start-up', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a')]);
      const runner = await stage.runner(host, 'ada', { host: 'pid:1' });
      await runner.accept(await runner.take('a'));
      host.kill();
      stage.outage(20_000);
      const successor = await stage.host({ isHostDead: () => true });
      await successor.runtime.start();
      await stage.settle();
      await heal(stage, successor);
      expect((await stage.job(run, 'a')).state).toBe('Eligible');
      expect((await stage.attempts(run, 'a')).map(({ state }) => state)).toEqual(['Lost']);
      expect(reports(successor)).toEqual([]);
    });

    test('a session closed right after an outage, by a process that was there before it', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Running');
      stage.outage(20_000);
      await host.runtime.closeSession(idOf<SessionId>(runner.session), 'its process is gone');
      await stage.settle();
      await heal(stage, host);
      expect((await stage.job(run, 'a')).state).toBe('Eligible');
      expect(await runner.finish(offer)).toEqual(stale);
    });

    test('a pause shorter than a gap is no outage', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Running');
      stage.outage(stage.limits.heartbeatGapMs);
      await host.runtime.tick();
      expect(await runner.beat(offer)).toEqual(['continue']);
      expect((await stage.story(run)).filter((type) => type === 'OutageCreditGranted')).toEqual([]);
    });

    test(
      'a runner whose mailbox is crowded out is not told Stale while credit is due',
      async (stage) => {
        const { host, run, runner, offer } = await sceneAt(stage, 'Running');
        stage.outage(40_000);
        const { id } = await stage.job(run, 'a');
        const crowd = Array.from({ length: 12 }, () => host.runtime.jobs.markEligible(run, id, { actor: user }));
        expect(await runner.beat(offer)).toEqual(['continue']);
        await Promise.all(crowd);
      },
      { limits: { mailboxMax: 4 } },
    );
  });
}

/** The wire carries plain texts. */
function renewalOf({ authority }: Offer): Renewal {
  const { run, job: jobId, lease, attempt, epoch, session } = authority;
  return {
    runId: idOf<RunId>(run),
    jobId: idOf<JobId>(jobId),
    lease: idOf<LeaseId>(lease),
    attempt: idOf<AttemptId>(attempt),
    epoch,
    session: idOf<SessionId>(session),
  };
}
