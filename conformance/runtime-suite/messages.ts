import type { JobId, MessageId } from '../../machines/index.ts';
import { job } from '../../machines/plan/index.ts';
import type { RunnerReply } from '../../runner/protocol/index.ts';
import { idOf } from '../core/index.ts';
import { user } from '../testkit/index.ts';
import { advanceTo, sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

export function messageTests(kit: Kit): void {
  const { describe, test, calmTest, expect } = kit;
  describe('messages', () => {
    const words = ['accept', 'start', 'finish', 'complete', 'fail', 'stopped', 'decline'] as const;
    for (const word of words) {
      test(`000 §364.11 000 §376.12 000 §376.13: ${word} twice, also at once and after a restart: one effect, one reply`, async (stage) => {
        const { host, run, runner, offer } = await sceneAt(stage, 'Leased');
        const before = {
          accept: 'Leased',
          decline: 'Leased',
          start: 'Preparing',
          complete: 'UploadingOutputs',
        } as const;
        await advanceTo(runner, offer, word in before ? before[word as keyof typeof before] : 'Running');
        if (word === 'stopped') await host.runtime.runs.cancel(run, { actor: user });
        const messageId = stage.id();
        const again = async (by = runner): Promise<RunnerReply> =>
          word === 'complete' || word === 'fail' ? by[word](offer, { messageId }) : by[word](offer, messageId);
        const first = await Promise.all([again(), again()]);
        const facts = (await stage.facts(run)).length;
        const successor = await stage.host();
        const { session } = runner;
        const elsewhere = await stage.runner(successor, 'ada', { session });
        const replies = [...first, await again(), await again(elsewhere)];
        expect(replies).toEqual(replies.map(() => first[0]));
        expect(first[0].type === 'rejected').toBe(false);
        expect((await stage.facts(run)).length).toBe(facts);
      });
    }

    test('000 §375.21: a completion repeated long after is answered as before, and is no late result', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'UploadingOutputs');
      const messageId = stage.id();
      const first = await runner.complete(offer, { messageId });
      await stage.pass(120_000);
      const successor = await stage.runner(await stage.host(), 'ada', { session: runner.session });
      expect(await runner.complete(offer, { messageId })).toEqual(first);
      expect(await successor.complete(offer, { messageId })).toEqual(first);
      await host.runtime.tick();
      expect((await stage.story(run)).filter((type) => type === 'LateAttemptResultRejected')).toEqual([]);
      expect((await stage.attempts(run, 'a')).map(({ lateResult }) => lateResult)).toEqual([false]);
    });

    test('000 §375.21: two completions with ids of their own: the second is Stale and changes nothing', async (stage) => {
      const { run, runner, offer } = await sceneAt(stage, 'UploadingOutputs');
      const replies = await Promise.all([runner.complete(offer), runner.complete(offer)]);
      expect(replies.map(({ type }) => type)).toEqual(['ok', 'directive']);
      expect((await stage.story(run, 'a')).filter((type) => type === 'JobSucceeded')).toEqual(['JobSucceeded']);
    });

    test('000 §376.12: two processes receive the same message at once: one effect, one reply', async (stage) => {
      const [one, two] = [await stage.host(), await stage.host()];
      const { run, runner, offer } = await sceneAt(stage, 'UploadingOutputs', {}, { host: one });
      const other = await stage.runner(two, 'ada', { session: runner.session });
      await two.runtime.runs.reconcile(run, { actor: user, dryRun: true });
      const messageId = stage.id();
      const replies = await Promise.all([runner.complete(offer, { messageId }), other.complete(offer, { messageId })]);
      expect(replies[1]).toEqual(replies[0]);
      expect((await stage.story(run, 'a')).filter((type) => type === 'JobSucceeded').length).toBe(1);
    });

    test('an operator’s request is one request however often it is sent', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a'), job('b')]);
      const messageId = idOf<MessageId>(stage.id());
      const ask = () => host.runtime.runs.changePriority(run, 7, { actor: user, messageId });
      const first = await Promise.all([ask(), ask()]);
      await host.runtime.runs.changePriority(run, 3, { actor: user });
      expect([...first, await ask()].map(({ outcome }) => outcome)).toEqual(['accepted', 'accepted', 'accepted']);
      expect((await stage.run(run)).priority).toBe(3);
    });

    calmTest('an unknown commit is told apart from what another process wrote in its place', async (stage) => {
      const other = await stage.host();
      const run = await stage.create(other, [job('a')]);
      let lost = 0;
      const host = await stage.host({
        disturb: (store) => ({
          ...store,
          async commit(commits) {
            lost += 1;
            if (lost > 1) return store.commit(commits);
            await other.runtime.runs.changePriority(run, 3, { actor: user });
            return commits.map(() => ({ kind: 'unknown', cause: 'nobody knows' }) as const);
          },
        }),
      });
      expect(await host.runtime.runs.changePriority(run, 5, { actor: user })).toMatchObject({ outcome: 'accepted' });
      expect((await stage.run(run)).priority).toBe(5);
      expect((await stage.story(run)).filter((type) => type === 'RunPriorityChanged').length).toBe(2);
    });

    test('000 §375.7 000 §375.8: a phase that was skipped is OutOfOrder; one that is over is a no-op', async (stage) => {
      const { run, runner, offer } = await sceneAt(stage, 'Preparing');
      expect(await runner.finish(offer)).toMatchObject({ type: 'rejected', code: 'OutOfOrder' });
      expect(await runner.complete(offer)).toMatchObject({ type: 'rejected', code: 'OutOfOrder' });
      await runner.start(offer);
      expect(await runner.accept(offer)).toMatchObject({ type: 'directive', directive: { kind: 'continue' } });
      expect((await stage.job(run, 'a')).state).toBe('Running');
    });

    test('000 §375.32 000 §376.23: nothing but commands moves a state, and unknown names are refused', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a')]);
      const nobody = idOf<JobId>(stage.id());
      expect(await host.runtime.jobs.cancel(run, nobody, { actor: user })).toMatchObject({ code: 'UnknownEntity' });
      expect(await host.runtime.runs.cancel(idOf(stage.id()), { actor: user })).toMatchObject({
        code: 'UnknownEntity',
      });
      expect(await host.runtime.runs.changePriority(run, 0.5, { actor: user })).toMatchObject({
        code: 'InvalidCommand',
      });
      expect(await stage.states(run)).toEqual({ run: 'Queued', a: 'Eligible' });
    });
  });
}
