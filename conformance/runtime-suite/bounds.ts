import { job } from '../../machines/plan/index.ts';
import type { Store } from '../../store/index.ts';
import { user } from '../testkit/index.ts';
import { sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

export function boundTests({ describe, test, calmTest, expect }: Kit): void {
  describe('mailboxes and memory', () => {
    calmTest(
      'a full mailbox answers Overloaded, and everybody is answered',
      async (stage) => {
        const host = await stage.host();
        const run = await stage.create(host, [job('a')]);
        const ask = (priority: number) => host.runtime.runs.changePriority(run, priority, { actor: user });
        const results = await Promise.all([1, 2, 3, 4, 5, 6].map(ask));
        const codes = results.map((result) => (result.outcome === 'rejected' ? result.code : result.outcome));
        expect(codes).toEqual(['accepted', 'accepted', 'accepted', 'Overloaded', 'Overloaded', 'Overloaded']);
        expect((await stage.run(run)).priority).toBe(3);
        expect(await ask(9)).toMatchObject({ outcome: 'accepted' });
      },
      { limits: { mailboxMax: 3 } },
    );

    calmTest(
      'a timer that meets a full mailbox fires later',
      async (stage) => {
        let crowd: Promise<unknown> = Promise.resolve();
        const host = await stage.host({
          disturb: (store) => ({
            ...store,
            claimTimers(query) {
              if (query.limit > 0 && stage.time.now() === due) crowd = crowdIn();
              return store.claimTimers(query);
            },
          }),
        });
        const run = await stage.create(host, [job('a', { timeouts: { queue: '5s' } })]);
        const due = stage.time.now() + 5_000;
        let refused = 0;
        /** Fills the mailbox again whenever a place in it becomes free. */
        const crowdIn = async (): Promise<void> => {
          for (let turn = 0; turn < 100; turn += 1) {
            const asked = host.runtime.runs.changePriority(run, turn % 7, { actor: user });
            void asked.then((result) => {
              if (result.outcome === 'rejected' && result.code === 'Overloaded') refused += 1;
            });
            await Promise.resolve();
          }
        };
        await host.runtime.start();
        await stage.settle();
        await stage.pass(5_000);
        await crowd;
        await stage.settle();
        expect([refused > 50, (await stage.job(run, 'a')).state]).toEqual([true, 'Eligible']);
        await stage.pass(2_000);
        expect((await stage.job(run, 'a')).state).toBe('TimedOut');
      },
      { limits: { mailboxMax: 1, groupCommitMax: 1 } },
    );

    test(
      'more runs than may idle in memory: each is forgotten, found again, and goes on',
      async (stage) => {
        const host = await stage.host();
        const runs = [];
        for (let count = 0; count < 6; count += 1) runs.push(await stage.create(host, [job(`job-${count}`)]));
        const runner = await stage.runner(host, 'ada');
        const offers = [];
        for (let count = 0; count < 6; count += 1) offers.push(await runner.take(`job-${count}`));
        for (const word of ['accept', 'start', 'finish'] as const)
          for (const offer of offers) await runner[word](offer);
        for (const offer of offers) await runner.complete(offer);
        for (const run of runs) expect((await stage.run(run)).state).toBe('Succeeded');
      },
      { limits: { idleActorsMax: 2 } },
    );

    calmTest('many commands of one run are one commit', async (stage) => {
      let commits = 0;
      const host = await stage.host();
      const names = Array.from({ length: 20 }, (_, at) => `job-${at}`);
      const run = await stage.create(
        host,
        names.map((name) => job(name)),
      );
      host.runtime.feed.onFacts(() => {
        commits += 1;
      });
      const ids = await Promise.all(names.map(async (name) => (await stage.job(run, name)).id));
      await Promise.all(ids.map((id) => host.runtime.jobs.cancel(run, id, { actor: user })));
      expect(commits).toBe(1);
      expect((await stage.run(run)).state).toBe('Cancelled');
    });

    calmTest('rows that the store refuses sink their sender and nobody else of the group', async (stage) => {
      let spoilt = 0;
      const host = await stage.host();
      const { run, offer, runner } = await sceneAt(stage, 'Running', {}, { host });
      const poisoned = await stage.host({
        disturb: (store) =>
          spoilPriority(store, () => {
            spoilt += 1;
          }),
      });
      const ask = (priority: number) => poisoned.runtime.runs.changePriority(run, priority, { actor: user });
      const settled = await Promise.allSettled([ask(1), ask(13), ask(2)]);
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      expect(spoilt > 0).toBe(true);
      expect((await stage.run(run)).priority).toBe(2);
      await runner.finish(offer);
      await runner.complete(offer);
    });
  });
}

/** A store that takes 13 for bad luck. */
function spoilPriority(store: Store, onRefused: () => void): Store {
  return {
    ...store,
    async commit(commits) {
      const unlucky = (commit: (typeof commits)[number]): boolean =>
        commit.facts.some(({ fact }) => fact.entity === 'run' && fact.set.priority === 13);
      if (!commits.some(unlucky)) return store.commit(commits);
      return commits.map((commit) => {
        if (!unlucky(commit)) return { kind: 'conflict', why: 'sequence' } as const;
        onRefused();
        return { kind: 'failed', cause: new Error('13') } as const;
      });
    },
  };
}
