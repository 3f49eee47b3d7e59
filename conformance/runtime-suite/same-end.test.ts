import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { gate, job } from '../../machines/plan/index.ts';
import type { Store, StoreClock } from '../../store/index.ts';
import { createMemoryStore, openSqliteStore } from '../../store/index.ts';
import type { Stage } from '../testkit/index.ts';
import { openStage, seededRandom, user } from '../testkit/index.ts';

/** A run in which everything happens, decided by the seed alone. */
async function play(stage: Stage, seed: number): Promise<readonly unknown[]> {
  const random = seededRandom(seed);
  const host = await stage.host();
  await host.runtime.start();
  const retry = { attempts: 3, backoff: { base: '1s', max: '8s' } } as const;
  const run = await stage.create(host, [
    job('build', { retry }),
    job('test', { needs: ['build'], retry, matrix: { axes: { n: [1, 2, 3] } } }),
    job('lint', { needs: ['build'], failureImpact: 'allowed', timeouts: { execution: '4s' } }),
    job('mend', { needs: [{ job: 'build', condition: 'failure' }] }),
    gate('go', { needs: ['test'], expiry: '20s', onExpiry: 'satisfy' }),
    job('ship', { needs: ['go', 'lint'], retry }),
  ]);
  const runner = await stage.runner(host, 'ada');
  for (let rounds = 0; rounds < 200 && (await stage.run(run)).finishedAt === null; rounds += 1) {
    for (const offer of await runner.poll(4)) {
      const dice = random();
      if (dice < 0.1) await runner.decline(offer);
      else if (dice < 0.2) await runner.accept(offer);
      else if (dice < 0.35)
        await runner.failRunning(offer, { failureClass: dice < 0.25 ? 'Infrastructure' : 'TestFailure' });
      else if (dice < 0.4) {
        await runner.accept(offer);
        await runner.start(offer);
      } else await runner.succeed(offer);
    }
    await stage.pass(2_000);
    if (random() < 0.05) await host.runtime.runs.changePriority(run, rounds, { actor: user });
  }
  expect(await stage.problems()).toEqual([]);
  const facts = await stage.facts(run);
  const loaded = await stage.store.load(run);
  return [facts, loaded?.run, loaded?.nodes, await stage.store.attempts(run, {}), await stage.store.timers(run)];
}

async function playOn(openStore: (environment: { clock: StoreClock }) => Promise<Store>, seed: number) {
  const stage = await openStage({ openStore });
  try {
    return await play(stage, seed);
  } finally {
    await stage.close();
  }
}

describe('the same plan and the same outcomes', () => {
  for (const seed of [1, 2, 3]) {
    test(`give the same end, fact for fact, on memory and on sqlite (seed ${seed})`, async () => {
      const directory = await mkdtemp(path.join(tmpdir(), 'forgeyard-same-end-'));
      try {
        const inMemory = await playOn(async ({ clock }) => createMemoryStore({ clock }), seed);
        const file = path.join(directory, 'store.db');
        const onDisk = await playOn(async ({ clock }) => openSqliteStore({ file, clock }), seed);
        expect(onDisk).toEqual(inMemory);
        expect(await playOn(async ({ clock }) => createMemoryStore({ clock }), seed)).toEqual(inMemory);
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    });
  }
});
