/** An agent, a scripted control plane and a folder, put together for one test and taken apart after it. */

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunnerTransport } from '../../transport/index.ts';
import { createMemoryLink } from '../../transport/memory/index.ts';
import type { Agent, AgentEvent, AgentOptions, AgentTuning, OutputStore } from '../index.ts';
import { createAgent, createOutputStore, systemClock } from '../index.ts';
import type { FakeControlPlane, FakeControlPlaneOptions } from './fake-control-plane.ts';
import { createFakeControlPlane, digestOf } from './fake-control-plane.ts';

export interface Stage {
  readonly dir: string;
  readonly control: FakeControlPlane;
  readonly agent: Agent;
  readonly outputs: OutputStore;
  readonly events: AgentEvent[];
  expectEvent<K extends AgentEvent['kind']>(
    kind: K,
    matches?: (event: Extract<AgentEvent, { kind: K }>) => boolean,
  ): Promise<Extract<AgentEvent, { kind: K }>>;
  log(path: string): Promise<string>;
  close(): Promise<void>;
}

export type StageOptions = Partial<Omit<AgentOptions, 'tuning'>> &
  Partial<FakeControlPlaneOptions> & {
    readonly tuning?: Partial<AgentTuning>;
    readonly wrapTransport?: (transport: RunnerTransport) => RunnerTransport;
  };

export async function createStage(options: StageOptions = {}): Promise<Stage> {
  const { leaseTtlMs = 30_000, heartbeatEveryMs = 5_000, wrapTransport = (transport) => transport, ...more } = options;
  const dir = await mkdtemp(join(tmpdir(), 'runner-stage-'));
  const control = createFakeControlPlane({ leaseTtlMs, heartbeatEveryMs });
  const link = createMemoryLink(control.handle);
  control.onOffer(link.ring);
  const outputs = createOutputStore(join(dir, 'outputs'));
  const events: AgentEvent[] = [];
  const waiting = new Set<(event: AgentEvent) => void>();
  let lastId = 0;
  const agent = createAgent({
    transport: wrapTransport(link.transport),
    runnerId: 'runner-1',
    name: 'test runner',
    capabilities: ['linux'],
    slots: 1,
    clock: systemClock,
    ids: () => `id-${++lastId}`,
    random: () => 0.5,
    stateDir: join(dir, 'state'),
    logDir: join(dir, 'logs'),
    outputStore: outputs,
    secretProviders: { commands: {}, filesFrom: dir, commandTimeoutMs: 5_000 },
    env: { PATH: process.env.PATH },
    digestOf,
    onEvent(event) {
      events.push(event);
      for (const tell of [...waiting]) tell(event);
    },
    ...more,
  });
  await agent.start();
  return {
    dir,
    control,
    agent,
    outputs,
    events,
    expectEvent(kind, matches = () => true) {
      const fits = (event: AgentEvent): event is Extract<AgentEvent, { kind: typeof kind }> =>
        isEvent(event, kind) && matches(event);
      const past = events.find(fits);
      if (past !== undefined) return Promise.resolve(past);
      return new Promise((resolve) => {
        const tell = (event: AgentEvent) => {
          if (!fits(event)) return;
          waiting.delete(tell);
          resolve(event);
        };
        waiting.add(tell);
      });
    },
    log: (path) => readFile(join(dir, 'logs', path), 'utf8'),
    async close() {
      await agent.stop({ graceMs: 0 });
      link.transport.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function isEvent<K extends AgentEvent['kind']>(event: AgentEvent, kind: K): event is Extract<AgentEvent, { kind: K }> {
  return event.kind === kind;
}

/** Processes of a workload hold a connection to it: their number and their end can be waited for. */
export interface Witness {
  readonly path: string;
  /** Resolves when `count` processes are connected. */
  present(count: number): Promise<void>;
  /** Resolves when none is connected any more. */
  gone(): Promise<void>;
  close(): void;
}

export function createWitness(dir: string): Promise<Witness> {
  const path = join(dir, 'witness.sock');
  let connected = 0;
  let changed = Promise.withResolvers<void>();
  const change = (by: number) => {
    connected += by;
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };
  const server = createServer((socket) => {
    change(1);
    socket.on('error', () => undefined);
    socket.resume();
    socket.on('close', () => change(-1));
  });
  const until = async (reached: () => boolean) => {
    while (!reached()) await changed.promise;
  };
  return new Promise((resolve) => {
    server.listen(path, () =>
      resolve({
        path,
        present: (count) => until(() => connected >= count),
        gone: () => until(() => connected === 0),
        close: () => server.close(),
      }),
    );
  });
}

/** Source of a Node program that is seen by the witness and ignores TERM; it runs until it is killed. No single quotes. */
export function stubborn(witness: Witness): string {
  return `process.on("SIGTERM",()=>{});require("net").connect(${JSON.stringify(witness.path)});setInterval(()=>{},1e6)`;
}

/** The same, but it says goodbye and ends on TERM. */
export function polite(witness: Witness): string {
  return `process.on("SIGTERM",()=>{console.log("bye");process.exit(0)});require("net").connect(${JSON.stringify(witness.path)});setInterval(()=>{},1e6)`;
}
