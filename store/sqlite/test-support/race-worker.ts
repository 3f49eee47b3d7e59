/** One of several processes that create the same run and grant its jobs, each by compare-and-set. Prints what it won. */
import { createInterface } from 'node:readline';
import type { RunId, SessionId } from '../../../machines/index.ts';
import type { RunRows } from '../../suite/index.ts';
import { createStep, grantStep, id, makePlan } from '../../suite/index.ts';
import { openSqliteStore } from '../index.ts';

const [file = '', name = '', jobs = '0'] = process.argv.slice(2);
const signals = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
console.log('ready');
await signals.next();

const store = openSqliteStore({ file, clock: { now: () => Date.now() }, busyTimeoutMs: 30_000 });
const plan = makePlan(Array.from({ length: Number(jobs) }, () => ({})));
const creation = createStep({ runId: id<RunId>(`run-of-${name}`), plan, now: store.now(), requestId: 'the same' });
const [created] = await store.commit([creation.commit]);
const runId = created?.kind === 'exists' ? created.runId : creation.commit.runId;

let granted = 0;
let conflicts = 0;
let rows = await reload();
// Everybody holds the same rows now: of the first grants exactly one can pass.
console.log('loaded');
await signals.next();
for (;;) {
  const next = rows.nodes.find(({ state }) => state === 'Eligible');
  if (next === undefined) break;
  const session = id<SessionId>(name);
  const step = grantStep(rows, { index: next.index, now: store.now(), message: `${name}-${next.index}` });
  // The session is no row here: races are about the run's sequence.
  const commit = { ...step.commit, attempts: step.commit.attempts.map((attempt) => ({ ...attempt, session })) };
  const [outcome] = await store.commit([commit]);
  if (outcome?.kind === 'committed') granted += 1;
  else if (outcome?.kind === 'conflict') conflicts += 1;
  else throw new Error(`a grant was ${JSON.stringify(outcome)}`);
  rows = outcome?.kind === 'committed' ? step.rows : await reload();
}
await store.close();
console.log(JSON.stringify({ created: created?.kind, granted, conflicts }));

async function reload(): Promise<RunRows> {
  const loaded = await store.load(runId);
  if (loaded === null) throw new Error(`run ${runId} is missing`);
  return {
    run: loaded.run,
    nodes: loaded.nodes,
    attempts: new Map(loaded.attempts.map((attempt) => [attempt.id, attempt])),
    leases: new Map(loaded.leases.map((lease) => [lease.id, lease])),
  };
}
