/** One test's workbench: store, clock, hook, and the short words the tests are written in. */
import type { RunId, RunnerId, SessionId, SessionRow } from '../../machines/index.ts';
import type { CommitOutcome, RunCommit, Store, StoreFailpoint } from '../contract.ts';
import type { RunRows } from './change.ts';
import { id } from './ids.ts';
import { acceptStep, grantStep } from './job-steps.ts';
import type { NodeOptions, RunOptions } from './rows.ts';
import { makePlan } from './rows.ts';
import type { Step } from './run-script.ts';
import { createStep } from './run-script.ts';
import type { MakeStore, SuiteRunner } from './subject.ts';

export interface Bench {
  readonly store: Store;
  now(): number;
  advance(ms: number): void;
  /** The hook throws at the next passing of this point, as a crash would. */
  crashAt(point: StoreFailpoint | null): void;
  /** The same contents through a new handle, where the store can; the old one is closed. */
  reopen(): Promise<void>;
  /** Commits steps that must succeed and answers the rows after the last one. */
  apply(...steps: readonly Step[]): Promise<RunRows>;
  commit(step: Step): Promise<CommitOutcome>;
  create(options?: Partial<CreateOptions>): Promise<RunRows>;
  /** A run whose job 0 is Held by `session-1`. */
  createHeld(options?: Partial<CreateOptions>): Promise<RunRows>;
  openSession(name?: string, columns?: Partial<SessionRow>): Promise<SessionRow>;
  beat(gapMs?: number): Promise<number>;
}

export interface CreateOptions extends Omit<RunOptions, 'plan' | 'now' | 'runId'> {
  readonly name: string;
  readonly nodes: readonly NodeOptions[];
  readonly project: string;
  readonly message: string;
}

export type UseBench = (name: string, body: (bench: Bench) => Promise<void>) => void;

const startAt = 1_750_000_000_000;
const gapMsDefault = 10_000;

/** Registers tests that each get a bench of their own, closed and removed afterwards. */
export function useBench(runner: SuiteRunner, make: MakeStore): UseBench {
  return (name, body) => {
    runner.it(name, async () => {
      const bench = await openBench(make);
      try {
        await body(bench);
        const check = await bench.store.check();
        runner.expect(check.problems).toEqual([]);
      } finally {
        await bench.store.close();
        await make.remove?.();
      }
    });
  };
}

async function openBench(make: MakeStore): Promise<Bench> {
  let nowMs = startAt;
  let crashPoint: StoreFailpoint | null = null;
  const environment = {
    clock: { now: () => nowMs },
    hook: (point: StoreFailpoint) => {
      if (point === crashPoint) throw new Error(`crash at ${point}`);
    },
  };
  let store = await make.open(environment);
  const bench: Bench = {
    get store() {
      return store;
    },
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
    crashAt(point) {
      crashPoint = point;
    },
    async reopen() {
      if (make.reopen === undefined) return;
      await store.close();
      store = await make.reopen(environment);
    },
    async commit(step) {
      return onlyOne(await store.commit([step.commit]));
    },
    async apply(...steps) {
      let rows: RunRows | undefined;
      for (const step of steps) {
        await expectCommitted(store, step.commit);
        rows = step.rows;
      }
      if (rows === undefined) throw new Error('apply needs a step');
      return rows;
    },
    create: (options = {}) => bench.apply(creation(options, nowMs)),
    async createHeld(options = {}) {
      let rows = await bench.create(options);
      rows = await bench.apply(grantStep(rows, { index: 0, now: nowMs }));
      return bench.apply(acceptStep(rows, { index: 0, now: nowMs }));
    },
    async openSession(name = 'session-1', columns = {}) {
      const session = { ...newSession(name, nowMs), ...columns };
      await store.openSession(session);
      return session;
    },
    async beat(gapMs = gapMsDefault) {
      return (await store.heartbeat({ gapMs })).creditSequence;
    },
  };
  return bench;
}

/** Creating step of a small run; equal names are equal runs. */
export function creation(options: Partial<CreateOptions>, now: number): Step {
  const { name = 'run-1', nodes = [{}], project, ...rest } = options;
  return createStep({ ...rest, runId: id<RunId>(name), plan: makePlan(nodes, project), now });
}

export function newSession(name: string, now: number): SessionRow {
  return {
    id: id<SessionId>(name),
    runner: id<RunnerId>('runner-1'),
    name,
    host: null,
    capabilities: ['linux'],
    slots: 2,
    state: 'Active',
    reason: null,
    openedAt: now,
    lastSeenAt: now,
    endedAt: null,
    version: 1,
  };
}

function onlyOne(outcomes: readonly CommitOutcome[]): CommitOutcome {
  const [outcome] = outcomes;
  if (outcome === undefined || outcomes.length !== 1) throw new Error(`${outcomes.length} outcomes for one commit`);
  return outcome;
}

async function expectCommitted(store: Store, commit: RunCommit): Promise<void> {
  const outcome = onlyOne(await store.commit([commit]));
  if (outcome.kind === 'failed' || outcome.kind === 'unknown') throw outcome.cause;
  if (outcome.kind !== 'committed') throw new Error(`expected committed, got ${JSON.stringify(outcome)}`);
}
