import { job } from '../../machines/plan/index.ts';
import { user } from '../testkit/index.ts';
import { sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

export function schedulingTests({ describe, test, expect, heal }: Kit): void {
  describe('grants', () => {
    test('highest priority first, then oldest; a changed priority reorders what waits', async (stage) => {
      const host = await stage.host();
      const first = await stage.create(host, [job('old')]);
      await stage.pass(1_000);
      await stage.create(host, [job('new')]);
      await stage.pass(1_000);
      await stage.create(host, [job('urgent')], { priority: 5 });
      const runner = await stage.runner(host, 'ada');
      const next = async () => {
        let [offer] = await runner.poll(1);
        for (let tries = 0; offer === undefined && tries < 12; tries += 1) [offer] = await runner.poll(1);
        if (offer !== undefined) await runner.accept(offer);
        return offer === undefined ? [] : [offer.jobName];
      };
      expect(await next()).toEqual(['urgent']);
      await stage.create(host, [job('newest')], { priority: 5 });
      await host.runtime.runs.changePriority(first, 6, { actor: user });
      expect(await next()).toEqual(['old']);
      expect(await next()).toEqual(['newest']);
      expect(await next()).toEqual(['new']);
      expect(await next()).toEqual([]);
    });

    test('a poll whose answer was lost: the next one brings the same offers, also from another process', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const run = await stage.create(one, [job('a')]);
      const runner = await stage.runner(one, 'ada');
      const first = await runner.take('a');
      const again = await (await stage.runner(two, 'ada', { session: runner.session })).take('a');
      expect([await runner.take('a'), again]).toEqual([first, first]);
      expect((await stage.attempts(run, 'a')).length).toBe(1);
    });

    test('000 §375.3: only Eligible jobs are offered', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [
        job('a'),
        job('waits', { needs: ['a'] }),
        job('retries', { retry: { attempts: 2, backoff: '1h' } }),
        job('never', { condition: false }),
      ]);
      const runner = await stage.runner(host, 'ada');
      await runner.failRunning(await runner.take('retries'));
      expect((await runner.poll()).map(({ jobName }) => jobName)).toEqual(['a']);
      expect((await stage.states(run)).retries).toBe('RetryWaiting');
    });

    test('a job goes to a runner that has all it asks for, and to no other', async (stage) => {
      const host = await stage.host();
      await stage.create(host, [job('gpu', { capabilities: ['linux', 'gpu'] }), job('any')]);
      const plain = await stage.runner(host, 'ada', { capabilities: ['linux'] });
      const able = await stage.runner(host, 'bob', { capabilities: ['gpu', 'linux', 'fast'] });
      await plain.take('any');
      await able.take('gpu');
      expect((await plain.poll()).map(({ jobName }) => jobName)).toEqual(['any']);
    });

    test('S08: never more offers than slots, held jobs counted', async (stage) => {
      const host = await stage.host();
      await stage.create(
        host,
        ['a', 'b', 'c', 'd'].map((name) => job(name)),
      );
      const runner = await stage.runner(host, 'ada', { slots: 2 });
      const [first, second] = [await runner.take('a'), await runner.take('b')];
      expect((await runner.poll()).length).toBe(2);
      await runner.accept(first);
      expect((await runner.poll()).map(({ jobName }) => jobName)).toEqual(['b']);
      await runner.decline(second);
      await runner.take('c');
      expect((await runner.poll()).length).toBe(1);
    });

    test('S42: a session that refused a job is passed over until another one had the chance, or a backoff', async (stage) => {
      const host = await stage.host();
      const { run, runner, offer } = await sceneAt(stage, 'Leased', {}, { host });
      await runner.decline(offer);
      expect(await runner.poll()).toEqual([]);
      const other = await stage.runner(host, 'bob');
      await other.decline(await other.take('a'));
      expect(await other.poll()).toEqual([]);
      const again = await runner.take('a');
      expect(again.attemptNumber).toBe(3);
      await runner.decline(again);
      await stage.pass(stage.limits.refusalBackoffMs);
      await runner.take('a');
      const job = await stage.job(run, 'a');
      expect([job.workloadFailures, job.infrastructureFailures, job.refusals]).toEqual([0, 0, 3]);
    });

    test('S09: an offer nobody accepts expires without charge and counts against its session', async (stage) => {
      const host = await stage.host();
      const { run, runner, offer } = await sceneAt(stage, 'Leased', {}, { host });
      await stage.pass(stage.limits.offerTtlMs);
      await host.runtime.tick();
      await heal(stage, host);
      expect(await runner.accept(offer)).toEqual({ type: 'directive', directive: { kind: 'stale' } });
      expect(await runner.resync(offer)).toEqual(['stale']);
      expect(await runner.poll()).toEqual([]);
      expect(await stage.job(run, 'a')).toMatchObject({ state: 'Eligible', refusals: 1, infrastructureFailures: 0 });
      expect((await stage.attempts(run, 'a')).map(({ state }) => state)).toEqual(['Rejected']);
    });

    test('after refusalsMax refusals in a row one infrastructure retry is spent', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a', { retry: { infrastructureRetries: 0, backoff: 'none' } })]);
      for (let count = 0; count < stage.limits.refusalsMax; count += 1) {
        const runner = await stage.runner(host, `runner-${count}`);
        await runner.decline(await runner.take('a'));
      }
      expect(await stage.job(run, 'a')).toMatchObject({
        state: 'Failed',
        failureClass: 'Infrastructure',
        reason: { code: 'NoWillingRunner' },
      });
    });

    test('an offer names its inputs: the outputs of what it builds on', async (stage) => {
      const host = await stage.host();
      await stage.create(host, [job('a', { outputs: ['out'] }), job('b', { needs: ['a'] })]);
      const runner = await stage.runner(host, 'ada');
      const output = { path: 'out', digest: `sha256:${'a'.repeat(64)}`, bytes: 3, mode: 0o644 };
      await runner.succeed(await runner.take('a'), { outputs: [output] });
      expect((await runner.take('b')).inputs).toEqual([{ job: 'a', outputs: [output] }]);
    });

    test('a doorbell rings when work becomes eligible', async (stage) => {
      const host = await stage.host();
      let rings = 0;
      const silence = host.runtime.gateway.onWork(() => {
        rings += 1;
      });
      await stage.create(host, [job('a')]);
      expect(rings > 0).toBe(true);
      silence();
      const heard = rings;
      await stage.create(host, [job('a')]);
      expect(rings).toBe(heard);
    });
  });
}
