import { gate, job } from '../../machines/plan/index.ts';
import { user } from '../testkit/index.ts';
import { sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

export function raceTests(kit: Kit): void {
  const { describe, test, expect } = kit;
  describe('races', () => {
    test('S15 000 §364.7: completion before cancel: the cancel answers AlreadyTerminal and the success stands', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const { run, runner, offer } = await sceneAt(stage, 'UploadingOutputs', {}, { host: one });
      await two.runtime.runs.reconcile(run, { actor: user, dryRun: true });
      await runner.complete(offer);
      const { id } = await stage.job(run, 'a');
      expect(await two.runtime.jobs.cancel(run, id, { actor: user })).toMatchObject({
        outcome: 'rejected',
        code: 'AlreadyTerminal',
      });
      expect(await two.runtime.runs.cancel(run, { actor: user })).toMatchObject({
        outcome: 'no-op',
        code: 'AlreadyTerminal',
        reply: { state: 'Succeeded' },
      });
      expect(await stage.states(run)).toEqual({ run: 'Succeeded', a: 'Succeeded' });
    });

    test('S14 000 §364.7: cancel before completion: honoured, the late success changes nothing', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const { run, runner, offer } = await sceneAt(stage, 'UploadingOutputs', {}, { host: one });
      expect(await two.runtime.runs.cancel(run, { actor: user })).toMatchObject({
        outcome: 'accepted',
        reply: { kind: 'run', state: 'Cancelling', intent: 'Cancelled' },
      });
      expect(await runner.complete(offer)).toEqual({ type: 'ok' });
      expect(await runner.complete(offer)).toEqual({ type: 'directive', directive: { kind: 'stale' } });
      expect(await stage.states(run)).toEqual({ run: 'Cancelled', a: 'Cancelled' });
    });

    test('cancel before completion, accept_success: the success stands, the run is Cancelled', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'UploadingOutputs', {
        completionAfterIntent: 'accept_success',
      });
      await host.runtime.runs.cancel(run, { actor: user });
      await runner.complete(offer);
      expect(await stage.states(run)).toEqual({ run: 'Cancelled', a: 'Succeeded' });
    });

    for (const order of ['cancel first', 'completion first'] as const) {
      test(`000 §364.7: cancel and completion at once in two processes, ${order}: one of them decides`, async (stage) => {
        const [one, two] = [await stage.host(), await stage.host()];
        const { run, runner, offer } = await sceneAt(stage, 'UploadingOutputs', {}, { host: one });
        await two.runtime.runs.reconcile(run, { actor: user, dryRun: true });
        const cancel = () => two.runtime.runs.cancel(run, { actor: user });
        const complete = () => runner.complete(offer);
        await Promise.all(order === 'cancel first' ? [cancel(), complete()] : [complete(), cancel()]);
        const states = await stage.states(run);
        const ends = (await stage.story(run, 'a')).filter((type) => type === 'JobSucceeded' || type === 'JobCancelled');
        expect(ends.length).toBe(1);
        expect(states.run).toBe(ends[0] === 'JobSucceeded' ? 'Succeeded' : 'Cancelled');
      });

      test(`000 §364.8: execution timeout and success, ${order === 'cancel first' ? 'timeout' : 'success'} first`, async (stage) => {
        const [one, two] = [await stage.host(), await stage.host()];
        const { run, runner, offer } = await sceneAt(
          stage,
          'Running',
          { timeouts: { execution: '5s' } },
          { host: one },
        );
        await stage.pass(5_000);
        const timeout = () => two.runtime.tick();
        const succeed = async () => {
          await runner.finish(offer);
          await runner.complete(offer);
        };
        await Promise.all(order === 'cancel first' ? [timeout(), succeed()] : [succeed(), timeout()]);
        await stage.settle();
        const { state } = await stage.job(run, 'a');
        expect(state === 'TimedOut' || state === 'Succeeded').toBe(true);
        expect((await stage.attempts(run, 'a')).length).toBe(1);
      });
    }

    test('000 §364.8: once the timeout is on record a success is honoured as the timeout', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Running', { timeouts: { execution: '5s' } });
      await stage.pass(5_000);
      await host.runtime.tick();
      await runner.finish(offer);
      await runner.complete(offer);
      expect(await stage.states(run)).toEqual({ run: 'Failed', a: 'TimedOut' });
    });

    test('S16: an intent set by another process reaches the runner with its next heartbeat and its next start', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const { run, runner, offer } = await sceneAt(stage, 'Preparing', {}, { host: one });
      await two.runtime.runs.cancel(run, { actor: user });
      expect(await runner.beat(offer)).toEqual(['cancel']);
      expect(await runner.resync(offer)).toEqual(['cancel']);
      expect(await runner.start(offer)).toMatchObject({ type: 'directive', directive: { kind: 'cancel' } });
      expect(await stage.states(run)).toEqual({ run: 'Cancelled', a: 'Cancelled' });
      expect((await stage.attempts(run, 'a')).map(({ startedAt }) => startedAt)).toEqual([null]);
    });

    test('an operator on stale memory decides on fresh state: gate, cancel, skip', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const run = await stage.create(one, [
        job('a'),
        job('b'),
        job('c', { needs: ['go'] }),
        gate('go', { needs: ['a'] }),
      ]);
      await two.runtime.runs.reconcile(run, { actor: user, dryRun: true });
      const { id } = await stage.gate(run, 'go');
      expect(await two.runtime.gates.decide(run, id, 'approve', { actor: user })).toMatchObject({
        code: 'GateNotOpen',
      });
      const runner = await stage.runner(one, 'ada');
      await runner.succeed(await runner.take('a'));
      const b = await stage.job(run, 'b');
      await runner.accept(await runner.take('b'));
      expect(await two.runtime.gates.decide(run, id, 'approve', { actor: user })).toMatchObject({
        outcome: 'accepted',
      });
      expect(await one.runtime.gates.decide(run, id, 'approve', { actor: user })).toMatchObject({ outcome: 'no-op' });
      expect(await one.runtime.gates.decide(run, id, 'reject', { actor: user })).toMatchObject({
        outcome: 'rejected',
        code: 'AlreadyTerminal',
      });
      expect(await one.runtime.jobs.skip(run, b.id, { actor: user })).toMatchObject({ outcome: 'rejected' });
      expect(await two.runtime.jobs.cancel(run, b.id, { actor: user })).toMatchObject({ outcome: 'accepted' });
      expect(await stage.states(run)).toMatchObject({ a: 'Succeeded', b: 'Preparing', c: 'Eligible', go: 'Satisfied' });
      expect((await stage.job(run, 'b')).intent).toMatchObject({ kind: 'Cancelled', reason: 'OperatorCancelled' });
    });

    test('000 §375.29 000 §375.30 000 §376.7: after the end every command of every kind leaves run and attempt as they are', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'UploadingOutputs');
      await runner.complete(offer);
      const before = {
        run: await stage.run(run),
        job: await stage.job(run, 'a'),
        attempts: await stage.attempts(run, 'a'),
      };
      const as = { actor: user };
      await host.runtime.runs.cancel(run, as);
      await host.runtime.runs.changePriority(run, 5, as);
      await host.runtime.jobs.cancel(run, before.job.id, as);
      await host.runtime.jobs.skip(run, before.job.id, as);
      await host.runtime.jobs.markEligible(run, before.job.id, as);
      for (const word of ['accept', 'start', 'finish', 'stopped', 'decline'] as const) await runner[word](offer);
      await stage.pass(100_000);
      await host.runtime.tick();
      const after = {
        run: await stage.run(run),
        job: await stage.job(run, 'a'),
        attempts: await stage.attempts(run, 'a'),
      };
      const sameButAudit = (value: typeof before) => [
        value.run.state,
        value.run.priority,
        value.run.finishedAt,
        value.job,
        value.attempts.map(({ state, finishedAt, exit, version }) => [state, finishedAt, exit, version]),
      ];
      expect(sameButAudit(after)).toEqual(sameButAudit(before));
    });
  });
}
