/**
 * The pipeline of this project, as its own root has it, carried by the real runtime with a runner that does as it is
 * told. What the jobs do on a machine is seen by `forgeyard run start forgeyard.yaml`.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPlanFile, sha256Digest } from '../../daemon/plan/index.ts';
import type { RunId } from '../../machines/index.ts';
import { canonicalJson } from '../../machines/plan/index.ts';
import type { Store, StoreClock, StoredFact } from '../../store/index.ts';
import { createMemoryStore, openSqliteStore } from '../../store/index.ts';
import type { Host, ScriptedRunner, Stage, StageOptions } from '../testkit/index.ts';
import { openStage, user } from '../testkit/index.ts';

const pipeline = path.join(import.meta.dirname, '..', '..', 'forgeyard.yaml');
const shards = ['test[shard=1]', 'test[shard=2]'] as const;
const packed = { path: 'forgeyard-0.1.0.tgz', digest: `sha256:${'f'.repeat(64)}`, bytes: 9, mode: 0o644 };
const roundsMax = 60;

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'forgeyard-self-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const sqlite = async ({ clock }: { readonly clock: StoreClock }): Promise<Store> =>
  openSqliteStore({ file: path.join(directory, 'store.db'), clock });
const stores: readonly (readonly [string, StageOptions])[] = [
  ['memory', { openStore: async ({ clock }) => createMemoryStore({ clock }) }],
  ['sqlite', { openStore: sqlite, reopenStore: sqlite }],
];

async function startPipeline(stage: Stage, host: Host): Promise<RunId> {
  const read = await readPlanFile(pipeline);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  const digest = sha256Digest(canonicalJson(read.plan));
  const result = await host.runtime.runs.create({ actor: user, plan: read.plan, planDigest: digest });
  if (result.outcome === 'rejected') throw new Error(result.detail);
  expect((await stage.run(result.runId)).state).toBe('Queued');
  return result.runId;
}

/** Ends whatever is offered, with success unless it is named. */
async function workOn(runner: ScriptedRunner, failing: readonly string[] = []): Promise<readonly string[]> {
  const offers = await runner.poll();
  for (const offer of offers) {
    if (failing.includes(offer.jobName)) await runner.failRunning(offer, { failureClass: 'TestFailure' });
    else await runner.succeed(offer, { outputs: offer.jobName === 'package' ? [packed] : [] });
  }
  return offers.map(({ jobName }) => jobName).sort();
}

async function approve(stage: Stage, host: Host, run: RunId) {
  const { id, state, openedAt } = await stage.gate(run, 'release');
  if (state !== 'Pending' || openedAt === null) return null;
  return host.runtime.gates.decide(run, id, 'approve', { actor: user, message: 'ship it' });
}

describe.each(stores)('the pipeline of this project, on %s', (_name, options) => {
  let stage: Stage;
  beforeEach(async () => {
    stage = await openStage(options);
  });
  afterEach(() => stage.close());

  it('000 §375.35 000 §376.30: its jobs, its matrix and its gate come to the end that its file asks for', async () => {
    const host = await stage.host();
    const run = await startPipeline(stage, host);
    const runner = await stage.runner(host, 'ada');
    expect(await workOn(runner)).toEqual(['docs', 'lint', 'types']);
    expect(await workOn(runner)).toEqual([...shards]);
    expect(await workOn(runner)).toEqual(['package']);
    expect(await workOn(runner)).toEqual([]);
    expect(await stage.states(run)).toMatchObject({ run: 'Running', release: 'Pending', publish: 'Pending' });
    expect((await stage.gate(run, 'release')).openedAt).not.toBeNull();
    expect(await approve(stage, host, run)).toMatchObject({ outcome: 'accepted' });
    const offer = await runner.take('publish');
    expect(offer.inputs.flatMap(({ outputs }) => outputs)).toEqual([packed]);
    await runner.succeed(offer);
    const done = ['lint', 'types', ...shards, 'docs', 'package', 'publish'].map((name) => [name, 'Succeeded']);
    expect(await stage.states(run)).toEqual({
      run: 'Succeeded',
      release: 'Satisfied',
      ...Object.fromEntries(done),
    });
    expect((await stage.gate(run, 'release')).decidedBy).toBe(user.id);
    expect(await stage.problems()).toEqual([]);
  });

  it('000 §375.35: a failing shard stops the other one, and nothing is packed, approved or published', async () => {
    const host = await stage.host();
    const run = await startPipeline(stage, host);
    const runner = await stage.runner(host, 'ada');
    await workOn(runner);
    const [first, second] = [await runner.take(shards[0]), await runner.take(shards[1])];
    await runner.accept(second);
    await runner.start(second);
    await runner.failRunning(first, { failureClass: 'TestFailure' });
    expect(await runner.beat(second)).toEqual(['cancel']);
    await runner.stopped(second);
    expect(await stage.states(run)).toMatchObject({
      run: 'Failed',
      [shards[0]]: 'Failed',
      [shards[1]]: 'Cancelled',
      docs: 'Succeeded',
      package: 'Skipped',
      publish: 'Skipped',
    });
    expect(await stage.problems()).toEqual([]);
  });

  it('003 §301.35 003 §303.30: processes die again and again; polling and reconciling end it, and every fact is told', async () => {
    const told: StoredFact[] = [];
    const consumers = [{ id: 'witness', handle: async (facts: readonly StoredFact[]) => void told.push(...facts) }];
    const mortal = () => stage.mortalHost('command:before-reply', 9, { consumers });
    const run = await startPipeline(stage, await stage.host());
    let host = await mortal();
    let deaths = 0;
    for (let rounds = 0; rounds < roundsMax && (await stage.run(run)).finishedAt === null; rounds += 1) {
      try {
        const runner = await stage.runner(host, 'ada');
        await workOn(runner);
        await approve(stage, host, run);
        await host.runtime.tick();
        if (host.reports.length > 0) throw new Error(host.reports.join());
      } catch {
        host.kill();
        deaths += 1;
        host = await mortal();
      }
      await stage.pass(stage.limits.offerTtlMs);
    }
    expect(deaths).toBeGreaterThan(2);
    expect(await stage.states(run)).toMatchObject({ run: 'Succeeded', publish: 'Succeeded' });

    const survivor = await stage.host({ consumers });
    expect((await survivor.runtime.runs.reconcile(run, { actor: user, dryRun: false })).issues).toEqual([]);
    for (let passes = 0; passes < 3; passes += 1) {
      await stage.pass(60_000);
      await survivor.runtime.tick();
    }
    // At least once: the first time that each one was told.
    const sequences = new Set(told.filter(({ runId }) => runId === run).map(({ sequence }) => sequence));
    expect([...sequences]).toEqual((await stage.facts(run)).map(({ sequence }) => sequence));
    expect(await stage.problems()).toEqual([]);
  });
});
