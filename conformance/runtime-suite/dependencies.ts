import { gate, job } from '../../machines/plan/index.ts';
import { user } from '../testkit/index.ts';
import { sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

export function dependencyTests(kit: Kit): void {
  graphTests(kit);
  retryTests(kit);
}

function graphTests({ describe, test, calmTest, expect, heal }: Kit): void {
  describe('dependencies', () => {
    test('000 §375.23 S26: a failed upstream skips what needs it, down to the end, and the run fails', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [
        job('a'),
        job('b', { needs: ['a'] }),
        job('c', { needs: ['b'] }),
        job('d'),
      ]);
      const runner = await stage.runner(host, 'ada');
      await runner.failRunning(await runner.take('a'));
      await stage.settle();
      await heal(stage, host);
      expect(await stage.states(run)).toMatchObject({ a: 'Failed', b: 'Skipped', c: 'Skipped', run: 'Running' });
      expect((await stage.job(run, 'c')).reason).toMatchObject({ code: 'UpstreamFailed', root: 'a' });
      await runner.succeed(await runner.take('d'));
      expect((await stage.run(run)).state).toBe('Failed');
    });

    test('000 §375.24 000 §376.18: a failure that is allowed fails neither its dependents nor the run', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a', { failureImpact: 'allowed' }), job('b', { needs: ['a'] })]);
      const runner = await stage.runner(host, 'ada');
      await runner.failRunning(await runner.take('a'));
      await runner.succeed(await runner.take('b'));
      expect(await stage.states(run)).toEqual({ a: 'Failed', b: 'Succeeded', run: 'Succeeded' });
    });

    test('000 §375.25: fail-fast ends the siblings where it is asked for, and only there', async (stage) => {
      const host = await stage.host();
      const matrix = (failFast: boolean) => ({ matrix: { axes: { n: [1, 2, 3] }, failFast } });
      const run = await stage.create(host, [job('fast', matrix(true)), job('slow', matrix(false))]);
      const runner = await stage.runner(host, 'ada');
      const held = await runner.take('fast[n=2]');
      await runner.accept(held);
      await runner.failRunning(await runner.take('fast[n=1]'));
      await runner.failRunning(await runner.take('slow[n=1]'));
      expect(await runner.beat(held)).toEqual(['cancel']);
      const states = await stage.states(run);
      expect([states['fast[n=2]'], states['fast[n=3]']]).toEqual(['Preparing', 'Cancelled']);
      expect([states['slow[n=2]'], states['slow[n=3]']]).toEqual(['Leased', 'Leased']);
      await runner.stopped(held);
      expect((await stage.job(run, 'fast[n=2]')).reason).toMatchObject({ code: 'FailFast' });
    });

    test('a job that runs on failure runs then, and is skipped when there is none', async (stage) => {
      const host = await stage.host();
      const nodes = [job('a'), job('mend', { needs: [{ job: 'a', condition: 'failure' }] })];
      const [failed, fine] = [await stage.create(host, nodes), await stage.create(host, nodes, { project: 'fine' })];
      const runner = await stage.runner(host, 'ada');
      for (let rounds = 0; rounds < 4; rounds += 1) {
        for (const offer of await runner.poll()) {
          if (offer.jobName === 'mend') continue;
          if (offer.authority.run === failed) await runner.failRunning(offer);
          else await runner.succeed(offer);
        }
      }
      await runner.succeed(await runner.take('mend'));
      expect(await stage.states(failed)).toEqual({ a: 'Failed', mend: 'Succeeded', run: 'Failed' });
      expect(await stage.states(fine)).toEqual({ a: 'Succeeded', mend: 'Skipped', run: 'Succeeded' });
    });

    test('S25: propagation needs neither scheduler nor runner: jobs are Eligible before anybody polls', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('never', { condition: false }), job('next', { needs: ['never'] })]);
      expect(await stage.states(run)).toEqual({ run: 'Queued', never: 'Skipped', next: 'Eligible' });
    });

    test('S24: after a restart nothing is satisfied that no row says', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a'), job('b', { needs: ['a'] }), job('c', { needs: ['b'] })]);
      host.kill();
      const successor = await stage.host();
      await successor.runtime.start();
      await stage.settle();
      await heal(stage, successor);
      expect(await stage.states(run)).toMatchObject({ a: 'Eligible', b: 'Pending', c: 'Pending' });
      const b = (await stage.job(run, 'b')).id;
      expect(await successor.runtime.jobs.markEligible(run, b, { actor: user })).toMatchObject({ outcome: 'no-op' });
    });

    calmTest(
      '000 §364.9 000 §376.19: dependents beyond the inline bound follow, also when the follow-up is lost',
      async (stage) => {
        const host = await stage.mortalHost('command:before-reply', 5);
        const leaves = Array.from({ length: 9 }, (_, at) => job(`leaf-${at}`, { needs: ['root'] }));
        const run = await stage.create(host, [job('root'), ...leaves]);
        const runner = await stage.runner(host, 'ada');
        const offer = await runner.take('root');
        await runner.succeed(offer).catch(() => null);
        await stage.settle();
        expect((await stage.job(run, 'root')).state).toBe('Succeeded');
        const left = Object.values(await stage.states(run)).filter((state) => state === 'Pending').length;
        expect(left).toBe(7);
        const successor = await stage.host();
        await successor.runtime.start();
        await stage.settle();
        const states = Object.values(await stage.states(run));
        expect(states.filter((state) => state === 'Eligible').length).toBe(9);
      },
      { limits: { inlineDependentsMax: 2, judgeBatchMax: 2 } },
    );

    test(
      'a fan-out beyond the inline bound is judged by follow-ups of the actor',
      async (stage) => {
        const host = await stage.host();
        const leaves = Array.from({ length: 9 }, (_, at) => job(`leaf-${at}`, { needs: ['root'] }));
        const run = await stage.create(host, [job('root'), ...leaves]);
        const runner = await stage.runner(host, 'ada');
        await runner.succeed(await runner.take('root'));
        await stage.settle();
        const states = Object.values(await stage.states(run));
        expect(states.filter((state) => state === 'Eligible').length).toBe(9);
      },
      { limits: { inlineDependentsMax: 2, judgeBatchMax: 2 } },
    );

    test('a gate nobody needs any more is closed, and the run settles', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a'), gate('go'), job('b', { needs: ['a', 'go'] })]);
      const runner = await stage.runner(host, 'ada');
      await runner.failRunning(await runner.take('a'));
      await stage.settle();
      await heal(stage, host);
      expect(await stage.states(run)).toEqual({ a: 'Failed', b: 'Skipped', go: 'Cancelled', run: 'Failed' });
    });

    test('000 §375.34 000 §376.28: the facts tell every attempt in order, with who did it and why', async (stage) => {
      const host = await stage.host();
      const retry = { attempts: 2, backoff: 'none' } as const;
      const { run, runner, offer } = await sceneAt(stage, 'Running', { retry }, { host });
      await runner.fail(offer, { failureClass: 'TestFailure' });
      await runner.succeed(await runner.take('a'));
      expect(await stage.story(run)).toEqual([
        ...[
          'RunCreated',
          'JobEligible',
          'AttemptCreated',
          'LeaseGranted',
          'JobLeased',
          'LeaseAccepted',
          'JobPreparing',
        ],
        ...['RunStarted', 'JobStarted', 'AttemptEnded', 'LeaseReleased', 'JobEligible'],
        ...['AttemptCreated', 'LeaseGranted', 'JobLeased', 'LeaseAccepted', 'JobPreparing', 'JobStarted'],
        ...['JobUploadingOutputs', 'AttemptEnded', 'LeaseReleased', 'JobSucceeded', 'RunSucceeded'],
      ]);
      const facts = await stage.facts(run);
      expect([...new Set(facts.map(({ actor }) => actor))]).toEqual(['user:ada', 'system:scheduler', 'runner:ada']);
      expect(facts.map(({ sequence }) => sequence)).toEqual(facts.map((_, at) => at + 1));
      expect((await stage.attempts(run, 'a')).map(({ number, state }) => [number, state])).toEqual([
        [1, 'Failed'],
        [2, 'Succeeded'],
      ]);
    });
  });
}

function retryTests({ describe, test, expect, heal }: Kit): void {
  describe('retry', () => {
    test('000 §375.10 000 §375.11 000 §376.2 000 §376.3: a retry has a new attempt, a new lease and the next epoch', async (stage) => {
      const host = await stage.host();
      const retry = { attempts: 3, backoff: 'none' } as const;
      const run = await stage.create(host, [job('a', { retry })]);
      const runner = await stage.runner(host, 'ada');
      for (let times = 0; times < 3; times += 1) await runner.failRunning(await runner.take('a'));
      const attempts = await stage.attempts(run, 'a');
      expect(attempts.map(({ number, epoch }) => [number, epoch])).toEqual([
        [1, 1],
        [2, 2],
        [3, 3],
      ]);
      expect(new Set(attempts.map(({ id }) => id)).size).toBe(3);
      expect(new Set(attempts.map(({ leaseId }) => leaseId)).size).toBe(3);
      expect(await stage.states(run)).toEqual({ a: 'Failed', run: 'Failed' });
    });

    test('000 §375.14: a compile failure is final unless the plan says otherwise', async (stage) => {
      const { run, runner, offer } = await sceneAt(stage, 'Running', { retry: { backoff: 'none' } });
      await runner.fail(offer, { failureClass: 'CompileFailure' });
      expect(await stage.job(run, 'a')).toMatchObject({ state: 'Failed', failureClass: 'CompileFailure' });
    });

    test('000 §375.15 000 §375.13: infrastructure failures are survived three times; the fourth is final', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a', { retry: { backoff: 'none' } })]);
      const runner = await stage.runner(host, 'ada');
      for (let times = 0; times < 4; times += 1) {
        expect((await stage.job(run, 'a')).state).toBe('Eligible');
        await runner.failRunning(await runner.take('a'), { failureClass: 'Infrastructure' });
      }
      expect(await stage.job(run, 'a')).toMatchObject({
        state: 'Failed',
        infrastructureFailures: 4,
        workloadFailures: 0,
      });
    });

    test('000 §375.12 000 §375.28 000 §376.16: lost attempts are retried, counted as infrastructure, and end as RunnerLost', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a', { retry: { infrastructureRetries: 1, backoff: 'none' } })]);
      const runner = await stage.runner(host, 'ada');
      for (let times = 0; times < 2; times += 1) {
        await runner.accept(await runner.take('a'));
        await stage.pass(stage.limits.leaseTtlMs);
        await host.runtime.tick();
        await stage.settle();
        await heal(stage, host);
      }
      expect(await stage.job(run, 'a')).toMatchObject({ state: 'Failed', failureClass: 'RunnerLost' });
      expect((await stage.attempts(run, 'a')).map(({ state }) => state)).toEqual(['Lost', 'Lost']);
    });

    test('000 §376.15: a timeout is TimedOut, neither Cancelled nor Failed, and retried only when listed', async (stage) => {
      const host = await stage.host();
      const timeouts = { execution: '5s' } as const;
      const listed = job('listed', { timeouts, retry: { attempts: 2, backoff: 'none' } });
      const run = await stage.create(host, [job('plain', { timeouts }), listed]);
      const runner = await stage.runner(host, 'ada');
      const offers = [await runner.take('plain'), await runner.take('listed')];
      for (const offer of offers) {
        await runner.accept(offer);
        await runner.start(offer);
      }
      await stage.pass(5_000);
      await host.runtime.tick();
      await heal(stage, host);
      for (const offer of offers) await runner.stopped(offer);
      const states = await stage.states(run);
      expect([states.plain, (await stage.attempts(run, 'listed')).map(({ state }) => state)]).toEqual([
        'TimedOut',
        ['TimedOut'],
      ]);
    });

    test('000 §376.17: a rerun or a changed priority changes no retry rule of a run', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a', { retry: { attempts: 2, backoff: 'none' } })]);
      const before = (await stage.store.load(run))?.plan;
      await host.runtime.runs.changePriority(run, 3, { actor: user });
      await host.runtime.runs.retry(run, { actor: user });
      expect((await stage.store.load(run))?.plan).toEqual(before);
    });
  });
}
