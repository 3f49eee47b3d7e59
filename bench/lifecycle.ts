/**
 * The whole life of jobs through the runner gateway: create, grant, accept, start, finish, complete, with attempts,
 * leases and history kept. Agents are scripted and in-process, so what is measured is ours.
 */
import { randomUUID } from 'node:crypto';
import type { Runtime } from '../actors/index.ts';
import { createRuntime } from '../actors/index.ts';
import type { ExecutablePlan } from '../machines/index.ts';
import { canonicalJson } from '../machines/plan/index.ts';
import type { RunnerReply, RunnerRequest } from '../runner/protocol/index.ts';
import type { Store } from '../store/index.ts';
import { sha256 } from './graph.ts';

export interface LifecycleResult {
  readonly jobs: number;
  readonly createMs: number;
  readonly completeMs: number;
  readonly jobsPerSecond: number;
  /** Growth of the heap while the run was alive, bytes per job. */
  readonly heapBytesPerJob: number;
}

export async function measureLifecycle(
  store: Store,
  plan: ExecutablePlan,
  concurrency: number,
): Promise<LifecycleResult> {
  const runtime = createRuntime({
    store,
    ids: { uuid: randomUUID },
    random: Math.random,
    wake: {
      setTimer(callback, delayMs) {
        const timer = setTimeout(callback, delayMs);
        return () => clearTimeout(timer);
      },
      soon: (callback) => void setImmediate(callback),
    },
    report(where, error) {
      throw new Error(`bench: ${where}`, { cause: error });
    },
  });
  await runtime.start();
  const heapBefore = collectedHeap();
  const startedAt = performance.now();
  const created = await runtime.runs.create({
    actor: { id: 'user:bench', permissions: 'all' },
    plan,
    planDigest: sha256(canonicalJson(plan)),
  });
  if (created.outcome !== 'created') throw new Error(`bench: the run was not created: ${created.outcome}`);
  const createdAt = performance.now();
  await completeAll(runtime, concurrency, async () => (await store.load(created.runId))?.run.finishedAt !== null);
  const completedAt = performance.now();
  const run = (await store.load(created.runId))?.run;
  if (run?.state !== 'Succeeded') throw new Error(`bench: the run ended ${run?.state}`);
  const heapAfter = collectedHeap();
  await runtime.stop();
  const jobs = plan.nodes.length;
  return {
    jobs,
    createMs: round(createdAt - startedAt),
    completeMs: round(completedAt - createdAt),
    jobsPerSecond: round((jobs / (completedAt - createdAt)) * 1000),
    heapBytesPerJob: round((heapAfter - heapBefore) / jobs),
  };
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Heap after a full collection where node was started with --expose-gc; otherwise as it is. */
function collectedHeap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

async function completeAll(runtime: Runtime, concurrency: number, ended: () => Promise<boolean>): Promise<void> {
  const session = randomUUID();
  const runner = 'bench';
  const ask = (message: Record<string, unknown>): Promise<RunnerReply> =>
    runtime.gateway.request({ version: 1, messageId: randomUUID(), ...message } as RunnerRequest);
  await ask({ type: 'hello', runner, session, name: runner, capabilities: [], slots: concurrency });
  const work = async (authority: unknown): Promise<void> => {
    const exit = { code: 0, signal: null };
    await ask({ type: 'accept', authority });
    await ask({ type: 'start', authority });
    await ask({ type: 'finish', authority, exit });
    const done = await ask({ type: 'complete', authority, exit, outputs: [], reports: [], log: null });
    if (done.type !== 'ok') throw new Error(`bench: completion answered ${JSON.stringify(done)}`);
  };
  const running = new Set<Promise<void>>();
  for (;;) {
    const reply = await ask({ type: 'poll', runner, session, max: concurrency });
    if (reply.type !== 'offers') throw new Error(`bench: poll answered ${JSON.stringify(reply)}`);
    for (const offer of reply.offers) {
      const one: Promise<void> = work(offer.authority).finally(() => running.delete(one));
      running.add(one);
    }
    if (running.size > 0) await Promise.race(running);
    else if (await ended()) break;
    else await new Promise((resolve) => setImmediate(resolve));
  }
}
