/** `run events`: the facts of a run, in order. */
import type { FactView } from '../../views/index.ts';
import { factView, reasonText, timeOfDay } from '../../views/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import { findRun } from '../find/index.ts';
import { emit } from '../output/emit.ts';
import { stateCell } from '../output/run-tables.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export interface RunEventsOptions {
  readonly after: number;
  readonly limit?: number;
}

const pageMax = 1_000;

export async function runEvents(terminal: Terminal, typed: string, options: RunEventsOptions): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const run = await findRun(store, typed);
    const names = (await store.load(run.id))?.nodes.map((row) => row.node) ?? [];
    const views: FactView[] = [];
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    for (let after = options.after; left > 0; ) {
      const facts = await store.facts(run.id, { after, limit: Math.min(pageMax, left) });
      const last = facts.at(-1);
      if (last === undefined) break;
      views.push(...facts.map((fact) => factView(fact, names)));
      after = last.sequence;
      left -= facts.length;
    }
    await emit(terminal, { data: views, table: () => eventTable(views, terminal) });
    return exitCodes.ok;
  });
}

function eventTable(views: readonly FactView[], { paint, width }: Terminal): string {
  const rows = views.map((view) => [
    String(view.sequence),
    timeOfDay(Date.parse(view.at)),
    view.type,
    view.node ?? '',
    stateCell(view.to),
    view.actor,
    reasonText(view.reason),
  ]);
  return renderTable({ head: ['#', 'TIME', 'FACT', 'NODE', 'STATE', 'ACTOR', 'REASON'], rows, paint, widthMax: width });
}
