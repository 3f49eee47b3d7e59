import { afterEach, expect, test } from 'vitest';
import type { Stage } from '../../conformance/testkit/index.ts';
import { openStage } from '../../conformance/testkit/index.ts';
import { job } from '../../machines/plan/index.ts';
import { createMemoryStore } from '../../store/memory/index.ts';

const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) {
    expect(await stage.problems()).toEqual([]);
    await stage.close();
  }
});

test('timers: one that the clock steps back from, after the claim, fires when it is due again', async () => {
  const stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
  stages.push(stage);
  let stepsBack = 1;
  const host = await stage.host({
    disturb: (store) => ({
      ...store,
      async claimTimers(query) {
        const claimed = await store.claimTimers(query);
        if (stepsBack > 0 && claimed.some(({ deadline }) => deadline.kind === 'execution')) {
          stepsBack -= 1;
          stage.time.advance(-2_000);
        }
        return claimed;
      },
    }),
  });
  await host.runtime.start();
  const run = await stage.create(host, [job('a', { timeouts: { execution: '5s' } })]);
  const runner = await stage.runner(host, 'ada');
  const offer = await runner.take('a');
  await runner.accept(offer);
  await runner.start(offer);
  await stage.pass(5_000);
  expect([stepsBack, (await stage.job(run, 'a')).intent]).toEqual([0, null]);
  await stage.pass(2_000);
  expect((await stage.job(run, 'a')).intent?.kind).toBe('TimedOut');
});
