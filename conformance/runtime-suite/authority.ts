import type { RunId } from '../../machines/index.ts';
import { job } from '../../machines/plan/index.ts';
import type { Offer } from '../../runner/protocol/index.ts';
import type { Host, ScriptedRunner, Stage } from '../testkit/index.ts';
import { user } from '../testkit/index.ts';
import type { Kit } from './kit.ts';

/** One job, accepted and started by one runner. */
async function runningJob(stage: Stage, host: Host): Promise<{ run: RunId; runner: ScriptedRunner; offer: Offer }> {
  const run = await stage.create(host, [job('a', { retry: { backoff: 'none' } })]);
  const runner = await stage.runner(host, 'ada');
  const offer = await runner.take('a');
  await runner.accept(offer);
  await runner.start(offer);
  return { run, runner, offer };
}

export function authorityTests(kit: Kit): void {
  const { describe, test, expect, heal } = kit;
  describe('authority', () => {
    test('000 §375.5 000 §376.24: two schedulers that grant the same jobs create one live lease each', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const run = await stage.create(
        one,
        ['a', 'b', 'c', 'd'].map((name) => job(name)),
      );
      const runners = [await stage.runner(one, 'ada'), await stage.runner(two, 'bob'), await stage.runner(one, 'cyd')];
      const offers = (await Promise.all(runners.flatMap((runner) => [runner.poll(), runner.poll()]))).flat();
      for (const runner of runners) offers.push(...(await runner.poll()));
      expect(new Set(offers.map(({ authority }) => authority.lease)).size).toBe(4);
      for (const name of ['a', 'b', 'c', 'd']) {
        const live = (await stage.leases(run, name)).filter(({ state }) => state === 'Offered');
        expect(live.length).toBe(1);
        expect((await stage.attempts(run, name)).length).toBe(1);
      }
    });

    test('000 §375.4 000 §376.1 000 §376.4: a grant makes lease and attempt in one commit, bound to each other', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a')]);
      const runner = await stage.runner(host, 'ada');
      const offer = await runner.take('a');
      const [lease] = await stage.leases(run, 'a');
      const [attempt] = await stage.attempts(run, 'a');
      expect(attempt).toMatchObject({
        leaseId: lease?.id,
        epoch: 1,
        number: 1,
        session: runner.session,
        state: 'Leased',
      });
      expect(lease).toMatchObject({ attemptId: attempt?.id, epoch: 1, runner: 'ada', state: 'Offered' });
      expect(offer.authority).toMatchObject({ attempt: attempt?.id, lease: lease?.id, epoch: 1 });
      expect(await stage.story(run, 'a')).toEqual(['JobEligible', 'AttemptCreated', 'LeaseGranted', 'JobLeased']);
    });

    test('000 §375.6: start without a current lease is answered Stale and launches nothing', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a')]);
      const runner = await stage.runner(host, 'ada');
      const offer = await runner.take('a');
      expect(await runner.start(offer)).toMatchObject({ type: 'rejected', code: 'OutOfOrder' });
      await stage.pass(stage.limits.offerTtlMs + 1);
      await host.runtime.tick();
      await heal(stage, host);
      expect(await runner.start(offer)).toEqual({ type: 'directive', directive: { kind: 'stale' } });
      expect((await stage.job(run, 'a')).state).toBe('Eligible');
    });

    test('S01 000 §364.5 000 §375.20 000 §376.6: A1 expires, A2 runs, A1 succeeds late: Stale, audited once; A2 decides', async (stage) => {
      const host = await stage.host();
      const { run, runner, offer } = await runningJob(stage, host);
      await stage.pass(stage.limits.leaseTtlMs);
      await host.runtime.tick();
      await heal(stage, host);
      const other = await stage.runner(host, 'bob');
      const second = await other.take('a');
      await other.accept(second);
      await other.start(second);
      for (let times = 0; times < 3; times += 1) {
        expect(await runner.complete(offer)).toEqual({ type: 'directive', directive: { kind: 'stale' } });
      }
      await other.fail(second);
      expect(await stage.states(run)).toMatchObject({ a: 'Failed', run: 'Failed' });
      const late = (await stage.story(run)).filter((type) => type === 'LateAttemptResultRejected');
      expect(late.length).toBe(1);
      expect((await stage.attempts(run, 'a')).map(({ state }) => state)).toEqual(['Lost', 'Failed']);
    });

    test('000 §375.19: a heartbeat of epoch 1 renews nothing of epoch 2', async (stage) => {
      const host = await stage.host();
      const { run, runner, offer } = await runningJob(stage, host);
      await stage.pass(stage.limits.leaseTtlMs);
      await host.runtime.tick();
      await heal(stage, host);
      const other = await stage.runner(host, 'bob');
      const second = await other.take('a');
      await other.accept(second);
      const before = await stage.leases(run, 'a');
      await stage.pass(1_000);
      expect(await runner.beat(offer)).toEqual(['stale']);
      expect(await runner.beat({ ...offer, authority: { ...offer.authority, epoch: 2 } })).toEqual(['stale']);
      expect(await stage.leases(run, 'a')).toEqual(before);
    });

    test('000 §376.21 003 §301.11: heartbeats add no fact and no version', async (stage) => {
      const host = await stage.host();
      const { run, runner, offer } = await runningJob(stage, host);
      const before = await stage.run(run);
      for (let times = 0; times < 10; times += 1) {
        await stage.pass(3_000);
        expect(await runner.beat(offer)).toEqual(['continue']);
      }
      expect(await stage.run(run)).toEqual(before);
      expect((await stage.leases(run, 'a')).map(({ version }) => version)).toEqual([2]);
    });

    test('000 §376.5: a message that names another session, runner, epoch or spec changes nothing', async (stage) => {
      const host = await stage.host();
      const { run, runner, offer } = await runningJob(stage, host);
      const before = await stage.run(run);
      const wrong = [
        { session: stage.id() },
        { runner: 'mallory' },
        { epoch: 2 },
        { lease: stage.id() },
        { attempt: stage.id() },
        { job: stage.id() },
        { specDigest: `sha256:${'0'.repeat(64)}` },
        { run: stage.id() },
      ];
      for (const change of wrong) {
        const reply = await runner.finish({ ...offer, authority: { ...offer.authority, ...change } });
        expect(reply.type === 'rejected' || (reply.type === 'directive' && reply.directive.kind === 'stale')).toBe(
          true,
        );
      }
      expect(await stage.run(run)).toEqual(before);
    });

    for (const first of ['renewal', 'expiry'] as const) {
      test(`000 §364.4: renewal against expiry, ${first} first: what was granted stands`, async (stage) => {
        const [one, two] = [await stage.host(), await stage.host()];
        const { run, runner, offer } = await runningJob(stage, one);
        await stage.pass(stage.limits.leaseTtlMs - 1);
        if (first === 'renewal') expect(await runner.beat(offer)).toEqual(['continue']);
        await stage.pass(1);
        const [, directive] = await Promise.all([two.runtime.tick(), runner.beat(offer)]);
        await stage.settle();
        await heal(stage, two);
        const { state } = await stage.job(run, 'a');
        expect([directive[0], state]).toEqual(first === 'renewal' ? ['continue', 'Running'] : ['stale', 'Eligible']);
      });
    }

    test('000 §364.4: a lease that another process has renewed is not expired by one that remembers less', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const run = await stage.create(one, [job('a')]);
      const runner = await stage.runner(one, 'ada');
      const offer = await runner.take('a');
      await runner.accept(offer);
      await two.runtime.jobs.skip(run, (await stage.job(run, 'a')).id, { actor: user });
      await stage.pass(stage.limits.leaseTtlMs - 1_000);
      expect(await runner.beat(offer)).toEqual(['continue']);
      await stage.pass(2_000);
      await two.runtime.tick();
      expect((await two.runtime.runs.reconcile(run, { actor: user, dryRun: true })).issues).toEqual([]);
      expect((await stage.job(run, 'a')).state).toBe('Preparing');
    });

    test('S02: a repair decided on old rows does not undo a completion', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const { run, runner, offer } = await runningJob(stage, one);
      await two.runtime.runs.reconcile(run, { actor: user, dryRun: true });
      await stage.pass(stage.limits.leaseTtlMs - 1);
      await runner.beat(offer);
      await runner.finish(offer);
      await Promise.all([runner.complete(offer), two.runtime.tick()]);
      expect(await stage.states(run)).toMatchObject({ a: 'Succeeded', run: 'Succeeded' });
    });

    test('S06: after a renewal whose answer was an error the lease lasts, and the next one extends it', async (stage) => {
      const host = await stage.host();
      const { runner, offer, run } = await runningJob(stage, host);
      await stage.pass(20_000);
      expect(await runner.beat(offer)).toEqual(['continue']);
      await stage.pass(25_000);
      await host.runtime.tick();
      await heal(stage, host);
      expect(await runner.beat(offer)).toEqual(['continue']);
      await stage.pass(25_000);
      await host.runtime.tick();
      await heal(stage, host);
      expect((await stage.job(run, 'a')).state).toBe('Running');
    });
  });
}
