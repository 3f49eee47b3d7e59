/** A database file with one of everything: a finished run, one with a held job, one with an ended gate. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunId, SessionId } from '../../../machines/index.ts';
import type { Store } from '../../contract.ts';
import type { NodeOptions, RunRows, Step } from '../../suite/index.ts';
import {
  acceptStep,
  changeStep,
  completeStep,
  createStep,
  deadline,
  gateAt,
  grantStep,
  id,
  makePlan,
  phaseStep,
} from '../../suite/index.ts';
import { openSqliteStore } from '../index.ts';

export interface TemporaryDirectory extends AsyncDisposable {
  readonly path: string;
  file(name?: string): string;
}

export async function temporaryDirectory(): Promise<TemporaryDirectory> {
  const directory = await mkdtemp(path.join(tmpdir(), 'forgeyard-sqlite-'));
  return {
    path: directory,
    file: (name = 'store.db') => path.join(directory, name),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

const now = 1_750_000_000_000;
export const sampleClock = { now: () => now };

export async function writeSample(file: string): Promise<void> {
  const store = openSqliteStore({ file, clock: sampleClock });
  await store.openSession({
    id: id<SessionId>('ended'),
    runner: id('runner-1'),
    name: 'one',
    host: null,
    capabilities: [],
    slots: 1,
    state: 'Active',
    reason: null,
    openedAt: now,
    lastSeenAt: now,
    endedAt: null,
    version: 1,
  });
  const session = await store.session(id('ended'));
  if (session !== null) await store.updateSession({ ...session, state: 'Closed', endedAt: now, version: 2 });
  await held(store, 'held');
  await finished(store);
  await endedGate(store);
  await store.heartbeat({ gapMs: 1_000 });
  await store.close();
}

export function newRun(name: string, nodes: readonly NodeOptions[] = [{}]): Step {
  return createStep({ runId: id<RunId>(name), plan: makePlan(nodes), now, message: `create-${name}` });
}

export async function commitStep(store: Store, step: Step): Promise<RunRows> {
  const [outcome] = await store.commit([step.commit]);
  if (outcome?.kind === 'failed' || outcome?.kind === 'unknown') throw outcome.cause;
  if (outcome?.kind !== 'committed') throw new Error(`the sample was not committed: ${outcome?.kind}`);
  return step.rows;
}

async function held(store: Store, name: string): Promise<RunRows> {
  let rows = await commitStep(
    store,
    newRun(name, [{}, { needs: [{ upstream: 0, condition: 'success', required: true }] }]),
  );
  rows = await commitStep(store, grantStep(rows, { index: 0, now, message: `grant-${name}` }));
  rows = await commitStep(store, changeStep(rows, { timers: { set: [deadline('offer', now)] } }, now));
  return commitStep(store, acceptStep(rows, { index: 0, now }));
}

async function finished(store: Store): Promise<void> {
  let rows = await commitStep(store, newRun('done'));
  for (const step of [grantStep, acceptStep, phaseStep, phaseStep, completeStep]) {
    rows = await commitStep(store, step(rows, { index: 0, now }));
  }
}

async function endedGate(store: Store): Promise<void> {
  const rows = await commitStep(store, newRun('gated', [{ kind: 'gate' }, {}]));
  const gate = { ...gateAt(rows, 0), state: 'Satisfied', openedAt: now, finishedAt: now, version: 2 } as const;
  await commitStep(store, changeStep(rows, { gates: [gate] }, now));
}
