/** One of everything: a finished run, one with a held job, one with an ended gate. */
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

export async function writeSample(store: Store): Promise<void> {
  const now = store.now();
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
}

export function newRun(store: Store, name: string, nodes: readonly NodeOptions[] = [{}]): Step {
  return createStep({ runId: id<RunId>(name), plan: makePlan(nodes), now: store.now(), message: `create-${name}` });
}

export async function commitStep(store: Store, step: Step): Promise<RunRows> {
  const [outcome] = await store.commit([step.commit]);
  if (outcome?.kind === 'failed' || outcome?.kind === 'unknown') throw outcome.cause;
  if (outcome?.kind !== 'committed') throw new Error(`the sample was not committed: ${outcome?.kind}`);
  return step.rows;
}

export async function held(store: Store, name: string): Promise<RunRows> {
  const now = store.now();
  const second: NodeOptions = { needs: [{ upstream: 0, condition: 'success', required: true }] };
  let rows = await commitStep(store, newRun(store, name, [{}, second]));
  rows = await commitStep(store, grantStep(rows, { index: 0, now, message: `grant-${name}` }));
  rows = await commitStep(store, changeStep(rows, { timers: { set: [deadline('offer', now)] } }, now));
  return commitStep(store, acceptStep(rows, { index: 0, now }));
}

async function finished(store: Store): Promise<void> {
  const now = store.now();
  let rows = await commitStep(store, newRun(store, 'done'));
  for (const step of [grantStep, acceptStep, phaseStep, phaseStep, completeStep]) {
    rows = await commitStep(store, step(rows, { index: 0, now }));
  }
}

async function endedGate(store: Store): Promise<void> {
  const now = store.now();
  const rows = await commitStep(store, newRun(store, 'gated', [{ kind: 'gate' }, {}]));
  const gate = { ...gateAt(rows, 0), state: 'Satisfied', openedAt: now, finishedAt: now, version: 2 } as const;
  await commitStep(store, changeStep(rows, { gates: [gate] }, now));
}
