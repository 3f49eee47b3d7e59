/** `run list` and `run show`. */
import type { RunRow, RunState } from '../../../machines/index.ts';
import type { RunFilter, Store } from '../../../store/index.ts';
import { runLine, runView } from '../../views/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import { findRun } from '../find/index.ts';
import { emit } from '../output/emit.ts';
import { runDetail, runTable } from '../output/run-tables.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export interface RunListOptions {
  readonly project?: string;
  readonly state?: readonly RunState[];
  readonly label?: Readonly<Record<string, string>>;
  readonly limit: number;
}

const pageMax = 200;

export async function runList(terminal: Terminal, options: RunListOptions): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const { rows, more } = await newestRuns(store, options);
    const counts = await store.counts(rows.map((run) => run.id));
    const now = store.now();
    const lines = rows.map((run) => runLine(run, counts.get(run.id) ?? { jobs: 0, byState: {} }, now));
    await emit(terminal, {
      data: lines,
      table: () =>
        lines.length === 0 ? 'no runs' : runTable(lines, { paint: terminal.paint, widthMax: terminal.width }),
    });
    if (more) terminal.progress(`older runs are left out; --limit shows more than ${options.limit}`);
    return exitCodes.ok;
  });
}

async function newestRuns(store: Store, options: RunListOptions): Promise<{ rows: readonly RunRow[]; more: boolean }> {
  const filter: RunFilter = {
    ...(options.project === undefined ? {} : { project: options.project }),
    ...(options.state === undefined ? {} : { states: options.state }),
  };
  const wanted = Object.entries(options.label ?? {});
  const rows: RunRow[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.runs(filter, { limit: pageMax, cursor });
    rows.push(...page.items.filter((run) => wanted.every(([key, value]) => run.labels[key] === value)));
    cursor = page.next;
  } while (cursor !== null && rows.length <= options.limit);
  return { rows: rows.slice(0, options.limit), more: rows.length > options.limit };
}

export async function runShow(terminal: Terminal, typed: string): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const loaded = await store.load((await findRun(store, typed)).id);
    if (loaded === null) return exitCodes.usage;
    const view = runView(loaded, store.now());
    await emit(terminal, {
      data: view,
      table: () => runDetail(view, { paint: terminal.paint, widthMax: terminal.width }),
    });
    return exitCodes.ok;
  });
}
