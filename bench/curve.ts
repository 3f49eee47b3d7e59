/** Creation and completion of ever larger runs: time and memory must grow linearly (000 §159, §220). */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '../store/index.ts';
import { createMemoryStore } from '../store/memory/index.ts';
import { openSqliteStore } from '../store/sqlite/index.ts';
import { graphOf } from './graph.ts';
import type { LifecycleResult } from './lifecycle.ts';
import { measureLifecycle } from './lifecycle.ts';

export type StoreKind = 'memory' | 'sqlite';

const clock = { now: () => Date.now() };

/** Runs `use` on a fresh store and removes what it left. */
async function withStore<T>(kind: StoreKind, use: (store: Store) => Promise<T>): Promise<T> {
  if (kind === 'memory') return use(createMemoryStore({ clock }));
  const directory = mkdtempSync(join(tmpdir(), 'forgeyard-bench-'));
  const store = await openSqliteStore({ file: join(directory, 'bench.db'), clock });
  try {
    return await use(store);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** One run per size, each on a store of its own. */
export async function measureCurve(
  kind: StoreKind,
  sizes: readonly number[],
  concurrency: number,
): Promise<readonly LifecycleResult[]> {
  const results: LifecycleResult[] = [];
  for (const size of sizes) {
    const plan = graphOf(size);
    results.push(await withStore(kind, (store) => measureLifecycle(store, plan, concurrency)));
  }
  return results;
}

/** Cost per job at the largest size over that at the smallest: 1 is perfectly linear. */
export function growth(results: readonly LifecycleResult[]): number {
  const [first, last] = [results.at(0), results.at(-1)];
  if (first === undefined || last === undefined) return Number.NaN;
  const perJob = (one: LifecycleResult): number => (one.createMs + one.completeMs) / one.jobs;
  return Math.round((perJob(last) / perJob(first)) * 100) / 100;
}
