/**
 * A process that carries runs: the runtime with its loops, and an agent in the same process.
 *
 *  C1 Every host is a runner of its own: two hosts on one store do not replace each other's sessions.
 *  C2 A host names its process, and proves other processes dead: at its start, and as long as it lives.
 */
import { hostname } from 'node:os';
import type { OutputVerifier, Runtime } from '../../actors/index.ts';
import { createRuntime } from '../../actors/index.ts';
import type { OutputRef } from '../../machines/index.ts';
import { canonicalJson } from '../../machines/plan/index.ts';
import type { Agent, AgentEvent, OutputStore } from '../../runner/index.ts';
import { createAgent, createOutputStore, systemClock } from '../../runner/index.ts';
import type { RunnerReply, RunnerRequest } from '../../runner/protocol/index.ts';
import type { Store } from '../../store/index.ts';
import { createMemoryLink } from '../../transport/memory/index.ts';
import { sha256Digest } from '../plan/index.ts';
import { currentHost, formatHost, isProvenDead } from './host-identity.ts';
import type { Places } from './places.ts';
import { runtimePorts } from './ports.ts';
import { createRunSources } from './run-sources.ts';

export interface HostOptions {
  readonly places: Places;
  readonly store: Store;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Attempts at once. */
  readonly slots: number;
  readonly capabilities: readonly string[];
  readonly secretCommands: Readonly<Record<string, readonly string[]>>;
  readonly keepWorkspaces: boolean;
  readonly onEvent: (event: AgentEvent) => void;
  readonly report: (where: string, error: unknown) => void;
}

export interface Host {
  readonly runtime: Runtime;
  /** Recovers what an earlier process left, then works. */
  start(): Promise<void>;
  /** Finishes the attempts under way, takes nothing new. */
  drain(): Promise<void>;
  /**
   * Stops the attempts under way as failures of the infrastructure; they will be retried by the next host.
   * Attempts that do not stop in time are still there afterwards: the process has to exit.
   */
  leave(options: { readonly graceMs: number }): Promise<void>;
}

const secretCommandTimeoutMs = 60_000;
/** Between two looks for hosts that have died. */
const watchHostsMs = 2_000;

export function createHost(options: HostOptions): Host {
  const { places, store } = options;
  const ports = runtimePorts(store);
  const self = currentHost();
  const isHostDead = (host: string): boolean => isProvenDead(host, self);
  const outputStore = createOutputStore(places.outputs);
  const verifier = verifierOf(outputStore);
  const runtime = createRuntime({ ...ports, verifier, isHostDead, report: options.report });
  const { agent, close } = createLocalAgent(options, { runtime, outputStore, host: formatHost(self), ...ports });
  let watch: NodeJS.Timeout | undefined;

  const end = async (work: Promise<void>): Promise<void> => {
    clearInterval(watch);
    await work;
    close();
    await runtime.stop();
  };
  return {
    runtime,
    async start() {
      await runtime.start();
      await agent.start();
      watch = setInterval(() => {
        closeDeadHosts(runtime, isHostDead).catch((error: unknown) => options.report('hosts', error));
      }, watchHostsMs);
    },
    drain: () => end(agent.drain()),
    // What has not ended by then ends with the process; the next host finds its leases.
    leave: ({ graceMs }) => end(Promise.race([agent.stop({ graceMs }), pauseOf(graceMs + graceForAnswersMs)])),
  };
}

/** On top of the grace: for the last answers of attempts that did end. */
const graceForAnswersMs = 300;

const pauseOf = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

interface AgentParts extends ReturnType<typeof runtimePorts> {
  readonly runtime: Runtime;
  readonly outputStore: OutputStore;
  readonly host: string;
}

function createLocalAgent(
  options: HostOptions,
  parts: AgentParts,
): { readonly agent: Agent; readonly close: () => void } {
  const { runtime, host, ids } = parts;
  const sources = createRunSources(options.places.runner);
  const link = createMemoryLink((request) => answerLocally(runtime, host, request));
  const stopRinging = runtime.gateway.onWork(link.ring);
  const agent = createAgent({
    transport: link.transport,
    runnerId: ids.uuid(),
    name: `${hostname().slice(0, 100)}/${process.pid}`,
    capabilities: options.capabilities,
    slots: options.slots,
    clock: systemClock,
    ids: ids.uuid,
    random: parts.random,
    stateDir: options.places.runner,
    logDir: options.places.logs,
    outputStore: parts.outputStore,
    secretProviders: {
      commands: options.secretCommands,
      filesFrom: options.places.project,
      commandTimeoutMs: secretCommandTimeoutMs,
    },
    env: options.env,
    digestOf: (spec) => sha256Digest(canonicalJson(spec)),
    onEvent: options.onEvent,
    sourceDir: (run) => sources.of(run) ?? options.places.project,
    tuning: { keepFailed: options.keepWorkspaces },
  });
  return {
    agent,
    close() {
      stopRinging();
      link.transport.close();
    },
  };
}

/**
 * Between two renewals of an agent in this process, at most. They also tell it what to stop, and here they cost no
 * network: nobody should wait long after Ctrl-C.
 */
const localHeartbeatMs = 500;

/** The control plane knows which process the agent of its own link lives in; the agent has no say in it. */
async function answerLocally(runtime: Runtime, host: string, request: RunnerRequest): Promise<RunnerReply> {
  const reply = await runtime.gateway.request(request.type === 'hello' ? { ...request, host } : request);
  if (reply.type !== 'welcome') return reply;
  return { ...reply, heartbeatEveryMs: Math.min(reply.heartbeatEveryMs, localHeartbeatMs) };
}

async function closeDeadHosts(runtime: Runtime, isHostDead: (host: string) => boolean): Promise<void> {
  for (const session of await runtime.store.sessions({ live: true })) {
    if (session.host !== null && isHostDead(session.host)) {
      await runtime.closeSession(session.id, 'the host process is gone');
    }
  }
}

/** The runner's store knows digests as texts; the runtime gets back the digests it asked about. */
function verifierOf(outputStore: OutputStore): OutputVerifier {
  return {
    async verify(refs) {
      const { missing, corrupt } = await outputStore.verify(refs);
      return { missing: digestsIn(refs, missing), corrupt: digestsIn(refs, corrupt) };
    },
  };
}

function digestsIn(refs: readonly OutputRef[], texts: readonly string[]): readonly OutputRef['digest'][] {
  const wanted = new Set(texts);
  return [...new Set(refs.map((ref) => ref.digest))].filter((digest) => wanted.has(digest));
}
