import { afterEach, expect, test } from 'vitest';
import type { Host, Stage } from '../conformance/testkit/index.ts';
import { openStage } from '../conformance/testkit/index.ts';
import { job } from '../machines/plan/index.ts';
import type { Store } from '../store/index.ts';
import { createMemoryStore } from '../store/memory/index.ts';

const stages: Stage[] = [];
async function open(): Promise<Stage> {
  const stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
  stages.push(stage);
  return stage;
}
afterEach(async () => {
  for (const stage of stages.splice(0)) {
    expect(await stage.problems()).toEqual([]);
    await stage.close();
  }
});

/** A run whose job `a` uploads its outputs, held by runner ada. */
async function uploading(stage: Stage) {
  const host = await stage.host();
  const run = await stage.create(host, [job('a')]);
  const runner = await stage.runner(host, 'ada');
  const offer = await runner.take('a');
  await runner.accept(offer);
  await runner.start(offer);
  await runner.finish(offer);
  return { run, runner, offer };
}

/** A process to which something happens right after it has read the run. */
function hostSurprisedAfterLoad(stage: Stage, surprise: () => Promise<void>): Promise<Host> {
  let surprised = false;
  return stage.host({
    disturb: (store: Store) => ({
      ...store,
      async load(run) {
        const loaded = await store.load(run);
        if (!surprised) {
          surprised = true;
          await surprise();
        }
        return loaded;
      },
    }),
  });
}

test('actor: outage: a process that is stopped between its beat and its decision judges after the credit', async () => {
  const stage = await open();
  const { run, runner, offer } = await uploading(stage);
  const paused = await hostSurprisedAfterLoad(stage, async () => stage.outage(35_000));
  const elsewhere = await stage.runner(paused, 'ada', { session: runner.session });
  expect(await elsewhere.complete(offer)).toEqual({ type: 'ok' });
  expect(await stage.states(run)).toEqual({ run: 'Succeeded', a: 'Succeeded' });
  expect(await stage.story(run)).not.toContain('LateAttemptResultRejected');
});

test('actor: renewal: one that another process grants while this one decides counts', async () => {
  const stage = await open();
  const { run, runner, offer } = await uploading(stage);
  await stage.pass(25_000);
  const deciding = await hostSurprisedAfterLoad(stage, async () => {
    expect(await runner.beat(offer)).toEqual(['continue']);
    stage.time.advance(8_000);
  });
  const elsewhere = await stage.runner(deciding, 'ada', { session: runner.session });
  expect(await elsewhere.complete(offer)).toEqual({ type: 'ok' });
  expect(await stage.states(run)).toEqual({ run: 'Succeeded', a: 'Succeeded' });
});

test('actor: sessions: one that is looked up anew while another is being read still counts as active', async () => {
  const stage = await open();
  const granting = await stage.host();
  const run = await stage.create(granting, [job('a'), job('b')]);
  const names = ['ada', 'bob'];
  const runners = await Promise.all(names.map((name) => stage.runner(granting, name, { slots: 1 })));
  const offers = await Promise.all(runners.map(async (runner) => (await runner.poll(1))[0]));
  let asked = 0;
  let helloAgain = async (): Promise<void> => {};
  const deciding = await stage.host({
    disturb: (store: Store) => ({
      ...store,
      async session(id) {
        asked += 1;
        if (asked === 2) await helloAgain();
        return store.session(id);
      },
    }),
  });
  const elsewhere = await Promise.all(
    runners.map(({ runner, session }) => stage.runner(deciding, runner, { session, slots: 1 })),
  );
  helloAgain = async () => void (await elsewhere[0]?.hello());
  const replies = await Promise.all(
    elsewhere.map(async (runner, place) => {
      const offer = offers[place];
      return offer === undefined ? null : runner.accept(offer);
    }),
  );
  expect(replies.map((reply) => reply?.type)).toEqual(['directive', 'directive']);
  expect(await stage.states(run)).toMatchObject({ a: 'Preparing', b: 'Preparing' });
});
