/**
 * A stage for tests of programs built on the runtime: a store, a clock that stands until told, and any number of
 * runtimes over the store as if each were a process of its own.
 *
 *   const stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
 *   const host = await stage.host();
 *   const run = await stage.create(host, [job('build'), job('test', { needs: ['build'] })]);
 *   const runner = await stage.runner(host, 'ada');
 *   await runner.succeed(await runner.take('build'));
 *   await stage.pass(60_000);
 */
import type { ActorRef, CreateRunResult, Runtime, RuntimeFailpoint, RuntimeOptions } from '../../actors/index.ts';
import { createRuntime } from '../../actors/index.ts';
import type {
  AttemptRow,
  ExecutablePlan,
  GateRow,
  JobRow,
  LeaseRow,
  Limits,
  RunId,
  RunRow,
} from '../../machines/index.ts';
import { limits as realLimits } from '../../machines/index.ts';
import type { BuiltNode } from '../../machines/plan/index.ts';
import type { Store, StoreClock, StoredFact } from '../../store/index.ts';
import type { RunHeader } from '../core/index.ts';
import { fakeDigest, planFor } from '../core/index.ts';
import { countedIds, seededRandom } from './chance.ts';
import { checkStore } from './checks.ts';
import { insistentRuntime } from './insistent-runtime.ts';
import type { ManualTime } from './manual-time.ts';
import { createManualTime } from './manual-time.ts';
import { allFacts } from './read-run.ts';
import type { ScriptedRunner, ScriptedRunnerOptions } from './scripted-runner.ts';
import { createScriptedRunner } from './scripted-runner.ts';

export interface StageOptions {
  /** Opens the store for the first time. */
  openStore(environment: { readonly clock: StoreClock }): Promise<Store>;
  /** Another handle to the same contents, as another process has it; without it all share the first one. */
  reopenStore?(environment: { readonly clock: StoreClock }): Promise<Store>;
  /** What every process sees of the store, e.g. faults. */
  readonly disturb?: (store: Store) => Store;
  readonly limits?: Partial<Limits>;
}

export interface HostOptions extends Omit<Partial<RuntimeOptions>, 'store' | 'wake' | 'ids'> {
  /** What this process alone sees of the store. */
  readonly disturb?: (store: Store) => Store;
}

/** One process: a runtime over a handle of its own. */
export interface Host {
  readonly runtime: Runtime;
  /** What its loops reported and went on after. */
  readonly reports: readonly string[];
  /** From now on it reaches the store no more, as if killed. */
  kill(): void;
}

export interface Stage {
  readonly time: ManualTime;
  /** For looking: undisturbed, and never killed. */
  readonly store: Store;
  readonly limits: Limits;
  /** A fresh message or request id. */
  id(): string;
  host(options?: HostOptions): Promise<Host>;
  /** A host that dies when it passes the point for the n-th time (from 1). */
  mortalHost(point: RuntimeFailpoint, nth?: number, options?: HostOptions): Promise<Host>;
  plan(nodes: readonly BuiltNode[], header?: RunHeader): ExecutablePlan;
  /** Creates a run that must be created. */
  create(host: Host, nodes: readonly BuiltNode[], header?: RunHeader): Promise<RunId>;
  request(host: Host, plan: ExecutablePlan, requestId?: string): Promise<CreateRunResult>;
  /** A runner that has said hello. `session` defaults to one of its own. */
  runner(host: Host, name: string, options?: Partial<ScriptedRunnerOptions>): Promise<ScriptedRunner>;
  run(run: RunId): Promise<RunRow>;
  job(run: RunId, name: string): Promise<JobRow>;
  gate(run: RunId, name: string): Promise<GateRow>;
  attempts(run: RunId, name: string): Promise<readonly AttemptRow[]>;
  leases(run: RunId, name: string): Promise<readonly LeaseRow[]>;
  facts(run: RunId): Promise<readonly StoredFact[]>;
  /** Types of the run's facts, in order; of one node where it is named. */
  story(run: RunId, name?: string): Promise<readonly string[]>;
  /** States of all nodes by name, and of the run as `run`. */
  states(run: RunId): Promise<Readonly<Record<string, string>>>;
  /** Waits until no host has anything to do now. */
  settle(): Promise<void>;
  /** Time goes by with the control plane alive: somebody beats, started hosts wake up. */
  pass(ms: number): Promise<void>;
  /** Time goes by and nobody is there. */
  outage(ms: number): void;
  /** What a checker finds wrong; empty after every correct history. */
  problems(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export const user: ActorRef = { id: 'user:ada', permissions: 'all' };

/** Shorter than any gap that counts as an outage. */
const stepMs = 3_000;
/** Rounds of work that follow from each other in one instant; more is a loop that never rests. */
const roundsMax = 500;

export async function openStage(options: StageOptions): Promise<Stage> {
  const time = createManualTime();
  const environment = { clock: time.clock };
  const store = await options.openStore(environment);
  const handles: Store[] = [store];
  const hosts: Host[] = [];
  const ids = countedIds(0xfff);
  const limits: Limits = { ...realLimits, ...options.limits };

  const handle = async (): Promise<Store> => {
    if (options.reopenStore === undefined) return store;
    const opened = await options.reopenStore(environment);
    handles.push(opened);
    return opened;
  };

  const host = async ({ disturb, ...given }: HostOptions = {}): Promise<Host> => {
    let killed = false;
    const reports: string[] = [];
    const own = countedIds(hosts.length + 1);
    const disturbed = (disturb ?? options.disturb ?? ((one: Store) => one))(await handle());
    const runtime = createRuntime({
      random: seededRandom(hosts.length + 1),
      report: (where, error) => reports.push(`${where}: ${String(error)}`),
      // Full passes happen where a test asks for them.
      reconcileEveryMs: 1_000_000_000,
      limits,
      ...given,
      store: severable(disturbed, () => killed),
      wake: time.wake,
      ids: own,
    });
    const made: Host = {
      runtime: insistentRuntime(runtime, own),
      reports,
      kill() {
        killed = true;
      },
    };
    hosts.push(made);
    return made;
  };

  const settle = async (): Promise<void> => {
    for (let rounds = 0; rounds < roundsMax; rounds += 1) {
      const fired = time.fireDue();
      await Promise.all(hosts.map(({ runtime }) => runtime.settled()));
      if (fired === 0) return;
    }
    throw new Error('something wakes up again and again without time going by');
  };

  const node = async (run: RunId, name: string) => {
    const found = (await store.load(run))?.nodes.find((row) => row.node === name);
    if (found === undefined) throw new Error(`run ${run} has no node ${name}`);
    return found;
  };
  const job = async (run: RunId, name: string): Promise<JobRow> => {
    const row = await node(run, name);
    if (row.kind !== 'job') throw new Error(`${name} is a gate`);
    return row;
  };

  const stage: Stage = {
    time,
    store,
    limits,
    id: () => ids.uuid(),
    host,
    async mortalHost(point, nth = 1, given = {}) {
      let passed = 0;
      const dying: { kill(): void } = { kill: () => {} };
      const made = await host({
        ...given,
        failpoint: (reached) => {
          if (reached !== point) return;
          passed += 1;
          if (passed !== nth) return;
          dying.kill();
          throw new Error(`killed at ${point}`);
        },
      });
      dying.kill = made.kill;
      return made;
    },
    plan: planFor,
    async create(where, nodes, header) {
      const result = await stage.request(where, planFor(nodes, header));
      // Its first answer may have been lost, and the request made again.
      if (result.outcome === 'rejected') throw new Error(`the run was not created: ${JSON.stringify(result)}`);
      return result.runId;
    },
    request: (where, plan, requestId = ids.uuid()) =>
      where.runtime.runs.create({ actor: user, plan, planDigest: fakeDigest(JSON.stringify(plan)), requestId }),
    async runner(where, name, given = {}) {
      const runner = createScriptedRunner({
        gateway: where.runtime.gateway,
        ids,
        runner: name,
        session: ids.uuid(),
        ...given,
      });
      await runner.hello();
      return runner;
    },
    async run(run) {
      const loaded = await store.load(run);
      if (loaded === null) throw new Error(`there is no run ${run}`);
      return loaded.run;
    },
    job,
    async gate(run, name) {
      const row = await node(run, name);
      if (row.kind !== 'gate') throw new Error(`${name} is a job`);
      return row;
    },
    async attempts(run, name) {
      const rows = await store.attempts(run, { job: (await job(run, name)).id });
      return [...rows].sort((a, b) => a.number - b.number);
    },
    async leases(run, name) {
      const rows = await store.leases(run, { job: (await job(run, name)).id });
      return [...rows].sort((a, b) => a.epoch - b.epoch);
    },
    facts: (run) => allFacts(store, run),
    async story(run, name) {
      const wanted = name === undefined ? null : (await node(run, name)).index;
      const facts = await allFacts(store, run);
      return facts
        .filter(({ fact }) => wanted === null || (fact.entity !== 'run' && fact.index === wanted))
        .map(({ fact }) => fact.type);
    },
    async states(run) {
      const loaded = await store.load(run);
      return Object.fromEntries([
        ['run', loaded?.run.state ?? 'none'],
        ...(loaded?.nodes ?? []).map((row) => [row.node, row.state] as const),
      ]);
    },
    settle,
    async pass(ms) {
      for (let left = ms; left > 0; left -= stepMs) {
        time.advance(Math.min(stepMs, left));
        await store.heartbeat({ gapMs: limits.heartbeatGapMs });
        await settle();
      }
    },
    outage: (ms) => time.advance(ms),
    problems: () => checkStore(store),
    async close() {
      for (const { runtime } of hosts) await runtime.stop();
      for (const each of handles) await each.close();
    },
  };
  return stage;
}

/** A handle that reaches nothing once its process is dead. */
function severable(store: Store, isDead: () => boolean): Store {
  return new Proxy(store, {
    get(target, name) {
      const found: unknown = Reflect.get(target, name);
      if (typeof found !== 'function' || name === 'now') return found;
      return (...given: unknown[]): unknown => {
        if (isDead()) return Promise.reject(new ProcessDied(String(name)));
        return Reflect.apply(found, target, given);
      };
    },
  });
}

/** No `StoreUnavailable`: nobody is left to ask again. */
class ProcessDied extends Error {
  override readonly name = 'ProcessDied';
}
