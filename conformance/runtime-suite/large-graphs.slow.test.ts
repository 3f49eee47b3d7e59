import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { BuiltNode } from '../../machines/plan/index.ts';
import { job } from '../../machines/plan/index.ts';
import type { Store, StoreClock } from '../../store/index.ts';
import { createMemoryStore, openSqliteStore } from '../../store/index.ts';
import { openStage } from '../testkit/index.ts';

/** Chains, fan-outs, fan-ins and diamonds, a thousand nodes of each kind and more. */
function largeGraph(): readonly BuiltNode[] {
  const nodes: BuiltNode[] = [job('root')];
  for (let chain = 0; chain < 25; chain += 1) {
    for (let link = 0; link < 100; link += 1) {
      nodes.push(job(`chain-${chain}-${link}`, { needs: [link === 0 ? 'root' : `chain-${chain}-${link - 1}`] }));
    }
  }
  const leaves = Array.from({ length: 2_500 }, (_, at) => `leaf-${at}`);
  for (const leaf of leaves) nodes.push(job(leaf, { needs: ['root'] }));
  for (let fan = 0; fan < 100; fan += 1)
    nodes.push(job(`fan-in-${fan}`, { needs: leaves.slice(fan * 25, fan * 25 + 25) }));
  for (let diamond = 0; nodes.length < 9_997; diamond += 1) {
    const at = `diamond-${diamond}`;
    nodes.push(job(`${at}-top`, { needs: ['root'] }));
    nodes.push(job(`${at}-left`, { needs: [`${at}-top`] }), job(`${at}-right`, { needs: [`${at}-top`] }));
    nodes.push(job(`${at}-end`, { needs: [`${at}-left`, `${at}-right`] }));
  }
  while (nodes.length < 10_000) nodes.push(job(`rest-${nodes.length}`));
  return nodes.slice(0, 10_000);
}

async function complete(openStore: (environment: { clock: StoreClock }) => Promise<Store>): Promise<void> {
  const stage = await openStage({ openStore });
  try {
    const host = await stage.host();
    const plan = stage.plan(largeGraph());
    const [first, again] = [await stage.request(host, plan, 'large'), await stage.request(host, plan, 'large')];
    if (first.outcome !== 'created') throw new Error(first.outcome);
    expect(again).toEqual({ outcome: 'existing', runId: first.runId });
    const created = await stage.facts(first.runId);
    expect(new Set(created.map(({ fact }) => fact.at)).size).toBe(1);
    const runner = await stage.runner(host, 'ada', { slots: 1_000 });
    for (;;) {
      const offers = await runner.poll(1_000);
      if (offers.length === 0) break;
      for (const word of ['accept', 'start', 'finish', 'complete'] as const)
        await Promise.all(offers.map((offer) => runner[word](offer)));
      await stage.settle();
    }
    expect((await stage.run(first.runId)).state).toBe('Succeeded');
    const { nodes } = (await stage.store.load(first.runId)) ?? { nodes: [] };
    expect(nodes.length).toBe(10_000);
    expect(nodes.every(({ state }) => state === 'Succeeded')).toBe(true);
    expect(await stage.problems()).toEqual([]);
  } finally {
    await stage.close();
  }
}

/** What is shown here does not depend on the disk. */
const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** ms; far more than it takes, for machines that do something else as well. */
const patienceMs = 300_000;

describe('a graph of 10,000 jobs', () => {
  test(
    '000 §375.1: is created in one commit, once, and completes: memory',
    async () => {
      await complete(async ({ clock }) => createMemoryStore({ clock }));
    },
    patienceMs,
  );

  test(
    '000 §375.1: is created in one commit, once, and completes: sqlite',
    async () => {
      const directory = await mkdtemp(path.join(root, 'forgeyard-large-'));
      try {
        await complete(async ({ clock }) => openSqliteStore({ file: path.join(directory, 'store.db'), clock }));
      } finally {
        await rm(directory, { recursive: true, force: true });
      }
    },
    patienceMs,
  );
});
