import type { SessionId } from '../../machines/index.ts';
import { job } from '../../machines/plan/index.ts';
import { idOf } from '../core/index.ts';
import { user } from '../testkit/index.ts';
import { sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

const stale = { type: 'directive', directive: { kind: 'stale' } } as const;

export function sessionTests({ describe, test, expect, heal }: Kit): void {
  describe('sessions', () => {
    test('S10: a draining session gives its offers back, takes no new work, and ends what it holds', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('held'), job('offered')]);
      const runner = await stage.runner(host, 'ada');
      const held = await runner.take('held');
      const offered = await runner.take('offered');
      await runner.accept(held);
      await runner.start(held);
      expect(await runner.drain()).toEqual({ type: 'ok' });
      expect(await stage.states(run)).toMatchObject({ held: 'Running', offered: 'Eligible' });
      expect(await runner.poll()).toEqual([]);
      expect(await runner.accept(offered)).toEqual(stale);
      expect(await runner.beat(held)).toEqual(['continue']);
      await runner.finish(held);
      await runner.complete(held);
      expect((await stage.job(run, 'held')).state).toBe('Succeeded');
      expect((await stage.job(run, 'offered')).refusals).toBe(0);
    });

    test('a new session of the runner replaces the old one and inherits nothing', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('held'), job('offered')]);
      const old = await stage.runner(host, 'ada');
      const held = await old.take('held');
      const offered = await old.take('offered');
      await old.accept(held);
      const young = await stage.runner(host, 'ada');
      await heal(stage, host);
      expect(await stage.states(run)).toMatchObject({ held: 'Preparing', offered: 'Eligible' });
      const claimed = { ...held, authority: { ...held.authority, session: young.session } };
      expect(await young.start(claimed)).toMatchObject({ type: 'rejected', code: 'Foreign' });
      expect(await young.beat(claimed)).toEqual(['stale']);
      expect(await old.poll()).toEqual([]);
      expect(await old.accept(offered)).toEqual(stale);
      expect(await old.beat(held)).toEqual(['continue']);
      expect((await young.take('offered')).authority.session).toBe(young.session);
    });

    test('a replaced session may end what it holds', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Running');
      await stage.runner(host, 'ada');
      await runner.finish(offer);
      await runner.complete(offer);
      expect((await stage.job(run, 'a')).state).toBe('Succeeded');
    });

    test('hello again is the same session', async (stage) => {
      const { run, runner, offer } = await sceneAt(stage, 'Preparing');
      expect(await runner.hello()).toMatchObject({ type: 'welcome', leaseTtlMs: stage.limits.leaseTtlMs });
      expect(await runner.beat(offer)).toEqual(['continue']);
      expect((await stage.store.sessions({ live: false })).length).toBe(1);
      expect((await stage.job(run, 'a')).state).toBe('Preparing');
    });

    test('000 §375.28: bye while it holds a job: the lease ends at once, the job is Lost and retried', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Running');
      await stage.pass(1_000);
      expect(await runner.bye()).toEqual({ type: 'ok' });
      await stage.settle();
      await heal(stage, host);
      expect((await stage.job(run, 'a')).state).toBe('Eligible');
      expect((await stage.attempts(run, 'a')).map(({ state }) => state)).toEqual(['Lost']);
      expect(await runner.finish(offer)).toEqual(stale);
      expect(await runner.bye()).toEqual({ type: 'ok' });
    });

    test('000 §375.28: a host proven dead: also where this process remembers a later expiry', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Running');
      await stage.pass(5_000);
      await runner.beat(offer);
      await host.runtime.closeSession(idOf<SessionId>(runner.session), 'its process is gone');
      await stage.settle();
      await heal(stage, host);
      expect(await stage.states(run)).toMatchObject({ a: 'Eligible' });
      expect((await stage.job(run, 'a')).infrastructureFailures).toBe(1);
      expect(await runner.beat(offer)).toEqual(['stale']);
    });

    test('a session closed by another process is closed for this one, whatever it remembers', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const { run, runner, offer } = await sceneAt(stage, 'Running', {}, { host: one });
      await stage.create(one, [job('b')]);
      await stage.pass(5_000);
      await runner.beat(offer);
      await two.runtime.closeSession(idOf<SessionId>(runner.session), 'its process is gone');
      await stage.settle();
      await heal(stage, one);
      expect(await runner.poll()).toEqual([]);
      expect(await runner.finish(offer)).toEqual(stale);
      expect((await stage.job(run, 'a')).state).toBe('Eligible');
    });

    test('a closer that dies half way: the reconciler of a process that remembers the session alive goes on', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('held'), job('offered')]);
      const runner = await stage.runner(host, 'ada');
      await runner.accept(await runner.take('held'));
      await runner.take('offered');
      const row = await stage.store.session(idOf<SessionId>(runner.session));
      if (row === null) throw new Error('no session');
      const endedAt = stage.time.now();
      await stage.store.updateSession({ ...row, state: 'Closed', reason: 'gone', endedAt, version: row.version + 1 });
      await host.runtime.runs.reconcile(run, { actor: user, dryRun: false });
      await stage.settle();
      await heal(stage, host);
      expect(await stage.states(run)).toMatchObject({ held: 'Eligible', offered: 'Eligible' });
    });

    test('start-up: sessions of dead hosts are closed, those of living ones are not', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a'), job('b')]);
      const dead = await stage.runner(host, 'ada', { host: 'pid:1', slots: 1 });
      const alive = await stage.runner(host, 'bob', { host: 'pid:2' });
      await dead.accept(await dead.take('a'));
      await alive.accept(await alive.take('b'));
      const successor = await stage.host({ isHostDead: (name) => name === 'pid:1' });
      await successor.runtime.start();
      await stage.settle();
      await heal(stage, successor);
      expect(await stage.states(run)).toMatchObject({ a: 'Eligible', b: 'Preparing' });
      expect((await stage.store.session(idOf<SessionId>(dead.session)))?.state).toBe('Closed');
      expect((await stage.store.session(idOf<SessionId>(alive.session)))?.state).toBe('Active');
    });

    test('a stranger cannot drain or close the session of another runner', async (stage) => {
      const host = await stage.host();
      const runner = await stage.runner(host, 'ada');
      const mallory = await stage.runner(host, 'mallory');
      for (const type of ['drain', 'bye'] as const) {
        const reply = await mallory.send({ type, runner: 'mallory', session: runner.session });
        expect(reply).toMatchObject({ type: 'rejected', code: 'Foreign' });
      }
      expect(await mallory.send({ type: 'poll', runner: 'mallory', session: runner.session, max: 1 })).toMatchObject({
        code: 'Foreign',
      });
      expect((await stage.store.session(idOf<SessionId>(runner.session)))?.state).toBe('Active');
    });

    test('a stranger cannot renew what another session holds, nor is it told how it stands', async (stage) => {
      const { host, run, offer } = await sceneAt(stage, 'Running');
      const mallory = await stage.runner(host, 'mallory');
      const before = await stage.leases(run, 'a');
      await stage.pass(5_000);
      expect(await mallory.beat(offer)).toEqual(['stale']);
      expect(await mallory.resync(offer)).toEqual(['stale']);
      expect(await stage.leases(run, 'a')).toEqual(before);
    });
  });
}
