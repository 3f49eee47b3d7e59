/** `job list`, `job show` and `job attempts`. */
import type { JobRow, JobState } from '../../../machines/index.ts';
import type { Store } from '../../../store/index.ts';
import type { JobRows } from '../../views/index.ts';
import { attemptViews, jobView, runView } from '../../views/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import type { FoundNode } from '../find/index.ts';
import { findJob, findRun } from '../find/index.ts';
import { emit } from '../output/emit.ts';
import { attemptTimeline, jobDetail } from '../output/job-tables.ts';
import { nodeTable } from '../output/run-tables.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export interface JobListOptions {
  readonly state?: readonly JobState[];
}

export async function jobList(terminal: Terminal, typed: string, options: JobListOptions): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const loaded = await store.load((await findRun(store, typed)).id);
    if (loaded === null) return exitCodes.usage;
    const lines = runView(loaded, store.now())
      .nodes.filter((line) => line.kind === 'job')
      .filter((line) => options.state === undefined || options.state.includes(line.state));
    await emit(terminal, {
      data: lines,
      table: () =>
        lines.length === 0 ? 'no jobs' : nodeTable(lines, { paint: terminal.paint, widthMax: terminal.width }),
    });
    return exitCodes.ok;
  });
}

export async function jobShow(terminal: Terminal, typed: string): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const view = jobView(await rowsOf(store, await findJob(store, typed)));
    await emit(terminal, { data: view, table: () => jobDetail(view, terminal.paint) });
    return exitCodes.ok;
  });
}

export async function jobAttempts(terminal: Terminal, typed: string): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const rows = await rowsOf(store, await findJob(store, typed));
    const views = attemptViews(rows);
    await emit(terminal, { data: views, table: () => attemptTimeline(views, rows.job, terminal.paint) });
    return exitCodes.ok;
  });
}

export async function rowsOf(store: Store, { run, row }: FoundNode<JobRow>): Promise<JobRows> {
  const planned = run.plan.nodes[row.index];
  if (planned?.kind !== 'job') throw new Error(`${row.node} is no job of its plan`);
  const attempts = await store.attempts(row.runId, { job: row.id });
  const leases = await store.leases(row.runId, { job: row.id });
  const sessions = [];
  for (const id of new Set(attempts.map((attempt) => attempt.session))) {
    const session = await store.session(id);
    if (session !== null) sessions.push(session);
  }
  return { run: run.run, job: row, planned, attempts, leases, sessions, now: store.now() };
}
