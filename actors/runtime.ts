/**
 * The actor runtime: wires the directory of run actors, the services, the runner gateway and the loops that make every
 * workflow converge. Data flows one way: command, decision, commit, then hints to consumers, which issue new commands.
 */
import type { RunAggregate } from '../machines/index.ts';
import type { RunCommit, StoredFact } from '../store/index.ts';
import type { AttemptProgress, FactFeed, Runtime } from './api.ts';
import { createCommitter } from './committer.ts';
import { createDirectory } from './directory.ts';
import { createGateway } from './gateway/gateway.ts';
import { createGrants } from './gateway/grants.ts';
import { createSessionService } from './gateway/session-service.ts';
import { createHeartbeat } from './heartbeat.ts';
import type { Loop } from './loops/loop.ts';
import { createLoop } from './loops/loop.ts';
import type { Consumer } from './loops/publisher.ts';
import { publishPending } from './loops/publisher.ts';
import { reconcileAll } from './loops/reconciler.ts';
import { recover } from './loops/recovery.ts';
import { fireDueTimers } from './loops/timers.ts';
import type { Ports } from './ports.ts';
import { completePorts } from './ports.ts';
import { rememberSuccess, tryCache } from './services/action-cache.ts';
import { createGateService, createJobService, createRunService } from './services/services.ts';
import { createSessionCache } from './sessions.ts';
import { createSubmit } from './submit.ts';

export type RuntimeOptions = Pick<Ports, 'store' | 'ids' | 'random' | 'wake'> & Partial<Ports> & RuntimeSettings;

export interface RuntimeSettings {
  /** See `recovery.ts`; only processes that share a machine with their runners can prove this. */
  readonly isHostDead?: (host: string) => boolean;
  /** ms between full reconcile passes; they also run at start. */
  readonly reconcileEveryMs?: number;
  readonly consumers?: readonly Consumer[];
}

/** Commits of different runs folded into one store call at the most. */
const foldMax = 128;
/** The timer loop never sleeps longer than this, so that timers set by other processes are met. */
const timerSleepMaxMs = 250;
const publishSleepMs = 1_000;
const errorDelayMs = 1_000;

export function createRuntime(options: RuntimeOptions): Runtime {
  const ports = completePorts(options);
  const { store } = ports;
  const heartbeat = createHeartbeat(ports);
  const sessions = createSessionCache(store);
  const committer = createCommitter(store, ports.wake, foldMax);
  const factListeners = new Set<(facts: readonly StoredFact[]) => void>();
  const progressListeners = new Set<(progress: AttemptProgress) => void>();
  /** A listener that throws is no reason to fail the command it is told about. */
  const tell = (listener: () => void): void => {
    try {
      listener();
    } catch (error) {
      ports.report('listener', error);
    }
  };
  const announce = (facts: readonly StoredFact[], commit: RunCommit): void => {
    for (const listener of factListeners) tell(() => listener(facts));
    if (facts.some(({ fact }) => fact.entity === 'job' && fact.to === 'Eligible')) tell(gateway.ring);
    if (commit.timers.set.length > 0) loops.timers.poke();
    loops.publisher.poke();
  };
  const onCommitted = (committed: {
    readonly facts: readonly StoredFact[];
    readonly commit: RunCommit;
    readonly aggregate: RunAggregate;
  }): void => {
    announce(committed.facts, committed.commit);
    for (const { fact } of committed.facts) {
      if (fact.type === 'JobSucceeded') background('cache', rememberSuccess(ports, committed.aggregate, fact.index));
    }
  };
  const inBackground = new Set<Promise<unknown>>();
  const background = (where: string, work: Promise<unknown>): void => {
    const watched = work
      .catch((error: unknown) => ports.report(where, error))
      .finally(() => inBackground.delete(watched));
    inBackground.add(watched);
  };
  const settled = async (): Promise<void> => {
    await Promise.all(Object.values(loops).map((loop) => loop.settled()));
    do {
      await directory.settled();
      await Promise.all(inBackground);
    } while (inBackground.size > 0);
    await directory.settled();
  };

  const directory = createDirectory({ ...ports, committer, heartbeat, sessions, onCommitted });
  const submit = createSubmit(ports, directory);
  const sessionService = createSessionService({ ...ports, sessions }, directory);
  const gateway = createGateway(
    {
      ...ports,
      sessions,
      sessionService,
      grants: createGrants(ports, directory),
      submit,
      ensureBeat: heartbeat.ensureFresh,
      onProgress: (progress) => {
        for (const listener of progressListeners) tell(() => listener(progress));
      },
    },
    directory,
  );
  const consumers: readonly Consumer[] = [cacheConsumer(ports, directory), ...(options.consumers ?? [])];
  const feed: FactFeed = {
    onFacts: (listener) => subscribe(factListeners, listener),
    onProgress: (listener) => subscribe(progressListeners, listener),
  };

  const timersPass = async (): Promise<number> => {
    await heartbeat.ensureFresh();
    await fireDueTimers(ports, directory);
    const next = await store.nextTimerAt();
    return next === null ? timerSleepMaxMs : Math.min(timerSleepMaxMs, Math.max(0, next - store.now()));
  };
  const loops = createLoops(ports, {
    timers: timersPass,
    publisher: async () => {
      await publishPending(ports, consumers);
      return publishSleepMs;
    },
    heartbeat: async () => {
      await heartbeat.beat();
      return ports.limits.heartbeatGapMs / 3;
    },
    reconciler: async () => {
      await reconcileAll({ ...ports, sessions }, directory, 'system:reconciler');
      return (options.reconcileEveryMs ?? 30_000) * (0.75 + ports.random() / 2);
    },
  });

  return {
    store,
    runs: createRunService({ ...ports, committer, heartbeat, sessions, onCreated: announce }, directory, submit),
    jobs: createJobService(directory, submit),
    gates: createGateService(submit),
    gateway,
    feed,
    async start() {
      await recover(
        { ...ports, sessions, heartbeat, sessionService, isHostDead: options.isHostDead ?? (() => false) },
        directory,
      );
      loops.heartbeat.start();
      loops.timers.start();
      loops.publisher.start();
      loops.reconciler.start();
    },
    async stop() {
      await Promise.all(Object.values(loops).map((loop) => loop.stop()));
      await settled();
    },
    settled,
    async tick() {
      await heartbeat.beat();
      await fireDueTimers(ports, directory);
      await reconcileAll({ ...ports, sessions }, directory, 'system:reconciler');
      await publishPending(ports, consumers);
    },
    async closeSession(session, reason) {
      await sessionService.close(session, null, reason);
    },
  };
}

type LoopName = 'heartbeat' | 'timers' | 'publisher' | 'reconciler';

function createLoops(
  ports: Ports,
  passes: { readonly [K in LoopName]: () => Promise<number> },
): { readonly [K in LoopName]: Loop } {
  return {
    heartbeat: createLoop('heartbeat', ports, errorDelayMs, passes.heartbeat),
    timers: createLoop('timers', ports, errorDelayMs, passes.timers),
    publisher: createLoop('publisher', ports, errorDelayMs, passes.publisher),
    reconciler: createLoop('reconciler', ports, errorDelayMs, passes.reconciler),
  };
}

/** Looks for reusable outputs as soon as a job becomes eligible, so that a hit needs no runner (000 §207). */
function cacheConsumer(ports: Ports, directory: ReturnType<typeof createDirectory>): Consumer {
  return {
    id: 'action-cache',
    async handle(facts) {
      for (const { fact, runId } of facts) {
        if (fact.entity === 'job' && fact.to === 'Eligible') await tryCache(ports, directory, runId, fact.id);
      }
    },
  };
}

function subscribe<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
  };
}
