/**
 * An agent in a thread of its own, whose event loop can be blocked from outside. The control plane is
 * in the thread that started it, behind a port.
 */
import type { MessagePort } from 'node:worker_threads';
import { parentPort, workerData } from 'node:worker_threads';
import { connectPort } from '../../transport/memory/index.ts';
import { createAgent, createOutputStore, systemClock } from '../index.ts';
import { digestOf } from './fake-control-plane.ts';

export interface BlockableAgentData {
  readonly control: MessagePort;
  readonly dir: string;
}
/** Sent right before the loop is blocked; `until` is monotonic, the same clock in all threads. */
export interface Blocking {
  readonly kind: 'blocking';
  readonly until: number;
}
export type ToBlockableAgent = { readonly kind: 'block'; readonly ms: number } | { readonly kind: 'stop' };

async function run(host: MessagePort, { control, dir }: BlockableAgentData): Promise<void> {
  const transport = connectPort(control);
  let lastId = 0;
  const agent = createAgent({
    transport,
    runnerId: 'runner-1',
    name: 'blockable',
    capabilities: [],
    slots: 1,
    clock: systemClock,
    ids: () => `id-${++lastId}`,
    random: () => 0.5,
    stateDir: `${dir}/state`,
    logDir: `${dir}/logs`,
    outputStore: createOutputStore(`${dir}/outputs`),
    secretProviders: { commands: {}, filesFrom: dir, commandTimeoutMs: 1_000 },
    env: { PATH: process.env.PATH },
    digestOf,
    onEvent: (event) => host.postMessage(event),
  });
  host.on('message', (message: ToBlockableAgent) => {
    if (message.kind === 'block') {
      const until = systemClock.monotonic() + message.ms;
      host.postMessage({ kind: 'blocking', until } satisfies Blocking);
      blockUntil(until);
    } else
      void agent.stop({ graceMs: 0 }).then(() => {
        transport.close();
        host.close();
      });
  });
  await agent.start();
}

/** What a synchronous hash of a large file, or a careless glob, does to an event loop. */
function blockUntil(end: number): void {
  while (systemClock.monotonic() < end);
}

if (parentPort !== null) await run(parentPort, workerData);
