import type { OutputVerifier } from '../../actors/index.ts';
import { job } from '../../machines/plan/index.ts';
import { sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

const output = { path: 'out', digest: `sha256:${'b'.repeat(64)}`, bytes: 3, mode: 0o644 };

/** Bytes that a test takes away and brings back. */
function shelf(): OutputVerifier & { state: 'sound' | 'missing' | 'corrupt' | 'unreachable'; looks: number } {
  return {
    state: 'sound',
    looks: 0,
    async verify(refs) {
      this.looks += 1;
      if (this.state === 'unreachable') throw new Error('the shelf is out of reach');
      const bad = refs.map(({ digest }) => digest);
      return { missing: this.state === 'missing' ? bad : [], corrupt: this.state === 'corrupt' ? bad : [] };
    },
  };
}

export function outputTests({ describe, test, calmTest, expect }: Kit): void {
  describe('outputs', () => {
    for (const state of ['missing', 'corrupt'] as const) {
      test(`000 §375.9 000 §376.8 000 §376.9: ${state} bytes: refused, the phase stays, the next complete succeeds`, async (stage) => {
        const verifier = shelf();
        verifier.state = state;
        const host = await stage.host({ verifier });
        const { run, runner, offer } = await sceneAt(stage, 'UploadingOutputs', { outputs: ['out'] }, { host });
        const before = await stage.run(run);
        expect(await runner.complete(offer, { outputs: [output] })).toMatchObject({ code: 'OutputsUnverified' });
        expect((await stage.job(run, 'a')).state).toBe('UploadingOutputs');
        expect(await stage.run(run)).toEqual(before);
        verifier.state = 'sound';
        expect(await runner.complete(offer, { outputs: [output] })).toEqual({ type: 'ok' });
        expect(await stage.job(run, 'a')).toMatchObject({ state: 'Succeeded', outputs: [output] });
      });
    }

    test('000 §375.22: bytes stored, commit lost: the same completion again succeeds, once', async (stage) => {
      const verifier = shelf();
      const host = await stage.host({ verifier });
      const { run, runner, offer } = await sceneAt(stage, 'UploadingOutputs', { outputs: ['out'] }, { host });
      const messageId = stage.id();
      verifier.state = 'unreachable';
      let failed = false;
      await runner.complete(offer, { outputs: [output], messageId }).catch(() => {
        failed = true;
      });
      expect([failed, (await stage.job(run, 'a')).state]).toEqual([true, 'UploadingOutputs']);
      verifier.state = 'sound';
      expect(await runner.complete(offer, { outputs: [output], messageId })).toEqual({ type: 'ok' });
      expect((await stage.story(run, 'a')).filter((type) => type === 'JobSucceeded').length).toBe(1);
    });
  });

  describe('action cache', () => {
    const cached = job('a', { outputs: ['out'], cacheKey: 'key-1' });

    calmTest('000 §375.26: an equal job ends by a cache hit, without attempt, lease or runner', async (stage) => {
      const host = await stage.host({ verifier: shelf() });
      await stage.create(host, [cached]);
      const runner = await stage.runner(host, 'ada');
      await runner.succeed(await runner.take('a'), { outputs: [output] });
      await stage.settle();
      const run = await stage.create(host, [cached, job('b', { needs: ['a'] })]);
      await host.runtime.tick();
      await stage.settle();
      expect(await stage.job(run, 'a')).toMatchObject({
        state: 'Succeeded',
        executionSource: 'CacheHit',
        attemptCount: 0,
        outputs: [output],
      });
      expect([(await stage.attempts(run, 'a')).length, (await stage.leases(run, 'a')).length]).toEqual([0, 0]);
      expect((await runner.take('b')).inputs).toEqual([{ job: 'a', outputs: [output] }]);
    });

    calmTest('a hit is also found when the job is about to be granted, if every hint was lost', async (stage) => {
      const host = await stage.host({ verifier: shelf() });
      await stage.create(host, [cached]);
      const runner = await stage.runner(host, 'ada');
      await runner.succeed(await runner.take('a'), { outputs: [output] });
      await stage.settle();
      const run = await stage.create(host, [cached]);
      expect(await runner.poll()).toEqual([]);
      expect(await stage.states(run)).toEqual({ a: 'Succeeded', run: 'Succeeded' });
    });

    for (const state of ['missing', 'corrupt'] as const) {
      test(`an entry whose bytes are ${state} is forgotten, and the job runs`, async (stage) => {
        const verifier = shelf();
        const host = await stage.host({ verifier });
        await stage.create(host, [cached]);
        const runner = await stage.runner(host, 'ada');
        await runner.succeed(await runner.take('a'), { outputs: [output] });
        await stage.settle();
        verifier.state = state;
        const run = await stage.create(host, [cached]);
        await host.runtime.tick();
        verifier.state = 'sound';
        await host.runtime.tick();
        expect(await stage.states(run)).toMatchObject({ a: 'Eligible' });
        await runner.succeed(await runner.take('a'), { outputs: [output] });
        expect((await stage.job(run, 'a')).executionSource).toBe('Executed');
      });
    }

    test('another key, another spec, another project and a failure give no hit', async (stage) => {
      const host = await stage.host({ verifier: shelf() });
      const retry = { backoff: 'none' } as const;
      await stage.create(host, [cached]);
      const runner = await stage.runner(host, 'ada');
      await runner.failRunning(await runner.take('a'));
      await stage.create(host, [cached]);
      await host.runtime.tick();
      await runner.succeed(await runner.take('a'), { outputs: [output] });
      await stage.settle();
      const others = [
        await stage.create(host, [job('a', { outputs: ['out'], cacheKey: 'key-2', retry })]),
        await stage.create(host, [job('a', { outputs: ['out'], cacheKey: 'key-1', env: { A: '1' } })]),
        await stage.create(host, [cached], { project: 'other' }),
        await stage.create(host, [job('a', { outputs: ['out'] })]),
      ];
      await host.runtime.tick();
      for (const run of others) expect((await stage.job(run, 'a')).state).toBe('Eligible');
    });
  });
}
