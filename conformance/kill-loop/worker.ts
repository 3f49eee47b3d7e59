/**
 * The process that is killed: commits histories of small runs to one file, two runs at a time, and says so after each
 * answer. Started anew, it goes on with the runs it finds. Its clock stands still, so that no lease runs out.
 */
import { flushCompileCache } from 'node:module';
import type { LeaseId, MessageId, RunId } from '../../machines/model/index.ts';
import type { Store } from '../../store/index.ts';
import { openSqliteStore } from '../../store/sqlite/index.ts';
import type { RunRows, Step } from '../../store/suite/index.ts';
import { changeStep, createStep, currentLease, id, jobAt, makePlan } from '../../store/suite/index.ts';
import { printAcknowledgement } from './acknowledgements.ts';
import { nextStep } from './next-step.ts';

// A killed process saves no compiled code by itself, and compiling is most of what its successor would do.
flushCompileCache();

const now = 1_750_000_000_000;
const [file = ''] = process.argv.slice(2);
const store = openSqliteStore({ file, clock: { now: () => now }, busyTimeoutMs: 30_000 });
const jobsPerRun = 3;
const publishEvery = 7;

const active = await resumeRuns(store);
for (let turn = 0; ; turn += 1) {
  while (active.length < 2) active.push(await createRun(store, await runsSoFar(store)));
  await moveAll(store, active, turn);
  if (turn % publishEvery === publishEvery - 1) await publish(store, `${process.pid}-${turn}`);
  for (const rows of [...active]) if (rows.run.finishedAt !== null) active.splice(active.indexOf(rows), 1);
}

async function resumeRuns(from: Store): Promise<RunRows[]> {
  const { items } = await from.runs({ states: ['Queued', 'Running'] }, { limit: 2, cursor: null });
  return Promise.all(items.map((run) => loadRun(from, run.id)));
}

async function loadRun(from: Store, runId: RunId): Promise<RunRows> {
  const loaded = await from.load(runId);
  if (loaded === null) throw new Error(`run ${runId} is missing`);
  return {
    run: loaded.run,
    nodes: loaded.nodes,
    attempts: new Map(loaded.attempts.map((attempt) => [attempt.id, attempt])),
    leases: new Map(loaded.leases.map((lease) => [lease.id, lease])),
  };
}

async function runsSoFar(from: Store): Promise<number> {
  return (await from.runs({}, { limit: 10_000, cursor: null })).items.length;
}

async function createRun(to: Store, number: number): Promise<RunRows> {
  const plan = makePlan(Array.from({ length: jobsPerRun }, () => ({})));
  const step = createStep({ runId: id<RunId>(`run-${number}`), plan, now, message: `create-${number}` });
  await commitAll(to, [step]);
  return step.rows;
}

/** One step of each run, in one batch; now and then the last message is sent again, as a caller in doubt would. */
async function moveAll(to: Store, runs: RunRows[], turn: number): Promise<void> {
  const steps = runs.map((rows) => nextStep(rows, now));
  await commitAll(to, steps);
  steps.forEach((step, place) => {
    runs[place] = step.rows;
  });
  for (const step of steps) {
    if (turn % 3 === 0) await sendAgain(to, step);
    const held = step.rows.nodes.find((node) => node.kind === 'job' && node.state === 'Preparing');
    if (held !== undefined) await renew(to, step.rows, held.index);
  }
}

async function commitAll(to: Store, steps: readonly Step[]): Promise<void> {
  const outcomes = await to.commit(steps.map(({ commit }) => commit));
  steps.forEach(({ commit }, place) => {
    const outcome = outcomes[place];
    if (outcome?.kind !== 'committed') throw new Error(`${commit.runId}: ${JSON.stringify(outcome)}`);
    for (const { messageId } of commit.receipts) {
      const { runId, run } = commit;
      printAcknowledgement({ kind: 'committed', run: runId, message: messageId, sequence: run.sequence });
    }
  });
}

async function sendAgain(to: Store, { commit, rows }: Step): Promise<void> {
  for (const { messageId } of commit.receipts) {
    const [outcome] = await to.commit([changeStep(rows, { message: messageId }, now).commit]);
    if (outcome?.kind !== 'duplicate') twice(commit.runId, messageId);
  }
}

function twice(run: RunId, message: MessageId): void {
  printAcknowledgement({ kind: 'twice', run, message });
}

async function renew(to: Store, rows: RunRows, index: number): Promise<void> {
  const lease = currentLease(rows, index);
  const { jobId, attemptId: attempt, epoch, session } = lease;
  const [outcome] = await to.renew([
    { runId: rows.run.id, jobId: jobAt(rows, index).id, lease: lease.id, attempt, epoch, session },
  ]);
  if (outcome?.kind !== 'renewed') throw new Error(`${jobId}: a renewal was ${outcome?.kind}`);
  promised(rows.run.id, lease.id, outcome.expiresAt);
}

function promised(run: RunId, lease: LeaseId, expiresAt: number): void {
  printAcknowledgement({ kind: 'promised', run, lease, expiresAt });
}

async function publish(from: Store, token: string): Promise<void> {
  // No duration: a claim of a killed worker is free at once.
  const batches = await from.claimOutbox({ limit: 8, claimMs: 0, token });
  await from.settleOutbox(batches.map(({ runId, first }) => ({ runId, first, token, retryAt: null })));
  for (const { runId, first } of batches) printAcknowledgement({ kind: 'published', run: runId, first });
}
