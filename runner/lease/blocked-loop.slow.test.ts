import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { servePort } from '../../transport/memory/index.ts';
import type { AgentEvent } from '../index.ts';
import type { BlockableAgentData, ToBlockableAgent } from '../test-support/blockable-agent.ts';
import type { FakeControlPlane } from '../test-support/fake-control-plane.ts';
import { createFakeControlPlane } from '../test-support/fake-control-plane.ts';
import { jobSpec, scriptStep } from '../test-support/job-specs.ts';
import type { Witness } from '../test-support/stage.ts';
import { createWitness, stubborn } from '../test-support/stage.ts';

const leaseTtlMs = 800;
let dir: string;
let control: FakeControlPlane;
let witness: Witness;
let worker: Worker;
let closeServer: () => void;
let events: AgentEvent[];

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'blocked-loop-'));
  control = createFakeControlPlane({ leaseTtlMs, heartbeatEveryMs: 40 });
  witness = await createWitness(dir);
  const channel = new MessageChannel();
  const server = servePort(channel.port1, control.handle);
  control.onOffer(server.ring);
  closeServer = server.close;
  events = [];
  worker = new Worker(new URL('../test-support/blockable-agent.ts', import.meta.url), {
    workerData: { control: channel.port2, dir } satisfies BlockableAgentData,
    transferList: [channel.port2],
  });
  worker.on('message', (event: AgentEvent) => events.push(event));
  await control.expectMessage('hello');
});
afterEach(async () => {
  const exited = once(worker, 'exit');
  tell({ kind: 'stop' });
  await exited;
  closeServer();
  witness.close();
  await rm(dir, { recursive: true, force: true });
});

const tell = (message: ToBlockableAgent) => worker.postMessage(message);
const workload = () =>
  jobSpec([scriptStep('', { command: { kind: 'argv', argv: [process.execPath, '-e', stubborn(witness)] } })]);

/** Renewals that arrive while the agent's loop is blocked for `ms`, counted until it is free again. */
async function renewalsDuring(ms: number): Promise<number> {
  const before = control.of('heartbeat').length;
  const lastProgress = events.length;
  tell({ kind: 'block', ms });
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const seen = control.of('heartbeat').length;
    await control.expectMessage('heartbeat', () => control.of('heartbeat').length > seen);
  }
  expect(events.length).toBe(lastProgress);
  return control.of('heartbeat').length - before;
}

describe('lease keeper: a blocked event loop', () => {
  test('S04 the lease is renewed while the agent is blocked for twice its length, and the work goes on', async () => {
    control.offer(workload());
    await witness.present(1);
    await control.expectMessage('heartbeat');
    expect(await renewalsDuring(2 * leaseTtlMs)).toBeGreaterThan(10);
    expect(events.some((event) => event.kind === 'attemptEnded')).toBe(false);
    await witness.present(1);
  });

  test('S04 when renewals fail meanwhile, the workload is dead before the lease ends, the loop still blocked', async () => {
    control.offer(workload());
    await witness.present(1);
    await control.expectMessage('heartbeat');
    let lastRenewal = performance.now();
    let down = false;
    control.react((request) => {
      if (request.type !== 'heartbeat') return undefined;
      if (down) return Promise.reject(new Error('unreachable'));
      lastRenewal = performance.now();
      return undefined;
    });
    const seen = control.of('heartbeat').length;
    await control.expectMessage('heartbeat', () => control.of('heartbeat').length > seen);
    tell({ kind: 'block', ms: 3 * leaseTtlMs });
    const unblocked = performance.now() + 3 * leaseTtlMs;
    down = true;
    await witness.gone();
    expect(performance.now() - lastRenewal).toBeLessThan(leaseTtlMs);
    expect(performance.now()).toBeLessThan(unblocked);
  });

  test('000 §190 Stale kills the workload although the loop is blocked', async () => {
    const { attempt } = control.offer(workload());
    await witness.present(1);
    await control.expectMessage('heartbeat');
    tell({ kind: 'block', ms: 1_500 });
    const unblocked = performance.now() + 1_500;
    control.direct(attempt, { kind: 'stale' });
    await witness.gone();
    expect(performance.now()).toBeLessThan(unblocked);
  });
});
