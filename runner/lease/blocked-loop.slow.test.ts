import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { servePort } from '../../transport/memory/index.ts';
import type { AgentEvent } from '../index.ts';
import { systemClock } from '../index.ts';
import type { BlockableAgentData, Blocking, ToBlockableAgent } from '../test-support/blockable-agent.ts';
import type { FakeControlPlane } from '../test-support/fake-control-plane.ts';
import { createFakeControlPlane } from '../test-support/fake-control-plane.ts';
import { jobSpec, scriptStep } from '../test-support/job-specs.ts';
import type { Witness } from '../test-support/stage.ts';
import { createWitness, stubborn } from '../test-support/stage.ts';

const leaseTtlMs = 5_000;
const now = systemClock.monotonic;
let dir: string;
let control: FakeControlPlane;
let witness: Witness;
let worker: Worker;
let closeServer: () => void;
let events: AgentEvent[];
let onBlocking: (until: number) => void;

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
  worker.on('message', (message: AgentEvent | Blocking) => {
    if (message.kind === 'blocking') onBlocking(message.until);
    else events.push(message);
  });
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

/** Blocks the agent's loop; from the answer on, until the time it names, the loop is surely blocked. */
function block(ms: number): Promise<number> {
  tell({ kind: 'block', ms });
  return new Promise((resolve) => {
    onBlocking = resolve;
  });
}

async function nextHeartbeat(): Promise<void> {
  const seen = control.of('heartbeat').length;
  await control.expectMessage('heartbeat', () => control.of('heartbeat').length > seen);
}

describe('lease keeper: a blocked event loop', () => {
  test('S04 the lease is renewed while the agent is blocked for longer than it lasts, and the work goes on', async () => {
    control.offer(workload());
    await witness.present(1);
    await control.expectMessage('heartbeat');
    const until = await block(1.5 * leaseTtlMs);
    let renewals = 0;
    for (; now() < until; renewals += 1) await nextHeartbeat();
    expect(renewals).toBeGreaterThan(3);
    expect(events.some((event) => event.kind === 'attemptEnded')).toBe(false);
    await witness.present(1);
  });

  test('S04 when renewals fail meanwhile, the workload is dead before the lease ends, the loop still blocked', async () => {
    control.offer(workload());
    await witness.present(1);
    await control.expectMessage('heartbeat');
    let lastRenewal = 0;
    let down = false;
    control.react((request) => {
      if (request.type !== 'heartbeat') return undefined;
      if (down) return Promise.reject(new Error('unreachable'));
      lastRenewal = now();
      return undefined;
    });
    const until = await block(2 * leaseTtlMs);
    await nextHeartbeat();
    down = true;
    await witness.gone();
    expect(now() - lastRenewal).toBeLessThan(leaseTtlMs);
    expect(now()).toBeLessThan(until);
  });

  test('000 §190 Stale kills the workload although the loop is blocked', async () => {
    const { attempt } = control.offer(workload());
    await witness.present(1);
    await control.expectMessage('heartbeat');
    const until = await block(leaseTtlMs);
    control.direct(attempt, { kind: 'stale' });
    await witness.gone();
    expect(now()).toBeLessThan(until);
  });
});
