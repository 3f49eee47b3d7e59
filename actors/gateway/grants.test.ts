import { afterEach, expect, test } from 'vitest';
import type { Stage } from '../../conformance/testkit/index.ts';
import { openStage } from '../../conformance/testkit/index.ts';
import type { RunId } from '../../machines/index.ts';
import { job } from '../../machines/plan/index.ts';
import { createMemoryStore } from '../../store/memory/index.ts';

const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) {
    expect(await stage.problems()).toEqual([]);
    await stage.close();
  }
});

test('grants: a job that cannot be granted lets those behind it pass, and is tried again', async () => {
  const stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
  stages.push(stage);
  const creating = await stage.host();
  const unreadable = new Set<RunId>([await stage.create(creating, [job('first')])]);
  stage.time.advance(1);
  await stage.create(creating, [job('second')]);
  const host = await stage.host({
    disturb: (store) => ({
      ...store,
      async load(run) {
        if (unreadable.has(run)) throw new Error('its rows cannot be read');
        return store.load(run);
      },
    }),
  });
  const runner = await stage.runner(host, 'ada', { slots: 1 });
  expect(await runner.poll()).toEqual([]);
  const [offer] = await runner.poll();
  expect(offer?.jobName).toBe('second');
  expect(host.reports).toEqual([expect.stringContaining('its rows cannot be read')]);
  unreadable.clear();
  expect((await (await stage.runner(host, 'bob')).poll()).map(({ jobName }) => jobName)).toEqual(['first']);
});
