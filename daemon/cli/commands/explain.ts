/** `run explain` and `job explain`. */
import type { JobRow } from '../../../machines/index.ts';
import type { LoadedRun, Store } from '../../../store/index.ts';
import { liveSessions, localActor } from '../../compose/index.ts';
import type { Explanation } from '../../explain/index.ts';
import { explainJob, explainRun } from '../../explain/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import { findJob, findRun } from '../find/index.ts';
import { emit } from '../output/emit.ts';
import type { Paint } from '../output/paint.ts';
import { styleOfState } from '../output/paint.ts';
import { printable } from '../output/printable.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export async function runExplain(terminal: Terminal, typed: string): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const loaded = await store.load((await findRun(store, typed)).id);
    if (loaded === null) return exitCodes.usage;
    const sessions = await liveSessions(store);
    return await show(terminal, explainRun({ loaded, now: store.now(), sessions, actor: localActor().id }));
  });
}

export async function jobExplain(terminal: Terminal, typed: string): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const { run: loaded, row } = await findJob(store, typed);
    const [sessions, attempts, ahead] = await Promise.all([
      liveSessions(store),
      store.attempts(row.runId, { job: row.id }),
      placeInQueue(store, loaded, row),
    ]);
    return await show(
      terminal,
      explainJob(row, { loaded, now: store.now(), sessions, attempts, ahead, actor: localActor().id }),
    );
  });
}

/** Farther back than this nobody counts. */
const queueMax = 1_000;

async function placeInQueue(store: Store, { run }: LoadedRun, job: JobRow): Promise<number | null> {
  if (job.state !== 'Eligible') return null;
  const session = (await liveSessions(store)).find((each) =>
    job.capabilities.every((name) => each.capabilities.includes(name)),
  );
  const queue = await store.eligible({ capabilities: session?.capabilities ?? job.capabilities, limit: queueMax });
  const place = queue.findIndex((each) => each.runId === run.id && each.jobId === job.id);
  return place < 0 ? null : place;
}

async function show(terminal: Terminal, explanation: Explanation): Promise<ExitCode> {
  await emit(terminal, { data: explanation, table: () => explanationText(explanation, terminal.paint) });
  return exitCodes.ok;
}

function explanationText({ subject, state, because, next }: Explanation, paint: Paint): string {
  const list = (lines: readonly string[]): readonly string[] => lines.map((line) => `  - ${printable(line)}`);
  return [
    `${printable(subject)} is ${paint(styleOfState(state), state)}`,
    ...list(because),
    ...(next.length === 0 ? [] : ['What comes next, or can be done:', ...list(next)]),
  ].join('\n');
}
