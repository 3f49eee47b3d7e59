/** `gate list`: the gates of one run, or every open one. */
import type { Store } from '../../../store/index.ts';
import { publicId } from '../../ids/index.ts';
import type { GateView } from '../../views/index.ts';
import { clockText, gateView, reasonText } from '../../views/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import { findRun } from '../find/index.ts';
import { emit } from '../output/emit.ts';
import { stateCell } from '../output/run-tables.ts';
import { renderTable } from '../output/table.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export interface GateLine extends GateView {
  readonly run: string;
  readonly runName: string;
  readonly approvers: readonly string[];
  readonly description: string | null;
}

export async function gateList(terminal: Terminal, typed: string | undefined): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const lines = typed === undefined ? await openGates(store) : await gatesOf(store, (await findRun(store, typed)).id);
    await emit(terminal, { data: lines, table: () => gateTable(lines, terminal, typed === undefined) });
    return exitCodes.ok;
  });
}

async function gatesOf(store: Store, runId: Parameters<Store['load']>[0]): Promise<readonly GateLine[]> {
  const loaded = await store.load(runId);
  if (loaded === null) return [];
  const { run, plan, nodes } = loaded;
  return nodes.flatMap((row) => {
    const planned = plan.nodes[row.index];
    if (row.kind !== 'gate' || planned?.kind !== 'gate') return [];
    const { approvers, description } = planned;
    return [{ ...gateView(row), run: publicId('run', run.id), runName: run.name, approvers, description }];
  });
}

async function openGates(store: Store): Promise<readonly GateLine[]> {
  const lines: GateLine[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.runs({ states: ['Queued', 'Running'] }, { limit: 100, cursor });
    for (const run of page.items) {
      const open = (await gatesOf(store, run.id)).filter((gate) => gate.state === 'Pending' && gate.openedAt !== null);
      lines.push(...open);
    }
    cursor = page.next;
  } while (cursor !== null);
  return lines;
}

function gateTable(lines: readonly GateLine[], { paint, width }: Terminal, onlyOpen: boolean): string {
  if (lines.length === 0) return onlyOpen ? 'no gate waits for a decision' : 'this run has no gates';
  const rows = lines.map((line) => [
    line.id,
    line.name,
    line.run,
    line.openedAt !== null && line.state === 'Pending'
      ? { text: 'open', style: 'yellow' as const }
      : stateCell(line.state),
    line.expiresAt === null ? '' : clockText(Date.parse(line.expiresAt)),
    line.approvers.join(' '),
    line.description ?? reasonText(line.reason),
  ]);
  return renderTable({
    head: ['GATE', 'NAME', 'RUN', 'STATE', 'EXPIRES', 'APPROVERS', 'ABOUT'],
    rows,
    paint,
    widthMax: width,
  });
}
