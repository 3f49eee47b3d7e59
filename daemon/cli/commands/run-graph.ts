/** `run graph`. */
import type { NodeRow } from '../../../machines/index.ts';
import type { LoadedRun } from '../../../store/index.ts';
import type { GraphFormat } from '../../views/index.ts';
import { dotGraph, edgeLabel, levels, mermaidGraph } from '../../views/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import { findRun } from '../find/index.ts';
import { symbolsFor } from '../live/symbols.ts';
import { emit } from '../output/emit.ts';
import { styleOfState } from '../output/paint.ts';
import { printable } from '../output/printable.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export interface RunGraphOptions {
  readonly format: GraphFormat;
}

export async function runGraph(terminal: Terminal, typed: string, { format }: RunGraphOptions): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store }) => {
    const loaded = await store.load((await findRun(store, typed)).id);
    if (loaded === null) return exitCodes.usage;
    if (format !== 'text') terminal.out(format === 'mermaid' ? mermaidGraph(loaded) : dotGraph(loaded));
    else await emit(terminal, { data: graphData(loaded), table: () => textGraph(loaded, terminal) });
    return exitCodes.ok;
  });
}

function graphData({ plan, nodes }: LoadedRun): unknown {
  return {
    nodes: nodes.map((row) => ({ name: row.node, kind: row.kind, state: row.state })),
    edges: plan.nodes.flatMap((node) =>
      node.needs.map((edge) => ({
        from: plan.nodes[edge.upstream]?.name ?? null,
        to: node.name,
        condition: edge.condition,
        required: edge.required,
      })),
    ),
  };
}

/** By levels: each node stands below everything it needs, indented by its depth. */
function textGraph(loaded: LoadedRun, { env, paint }: Terminal): string {
  const symbols = symbolsFor(env);
  const depth = levels(loaded);
  const ordered = [...loaded.nodes].sort((a, b) => (depth[a.index] ?? 0) - (depth[b.index] ?? 0) || a.index - b.index);
  return ordered
    .map((row) => {
      const state = paint(styleOfState(row.state), row.state);
      const kind = row.kind === 'gate' ? ' (gate)' : '';
      const needs = needsText(loaded, row);
      return `${'  '.repeat(depth[row.index] ?? 0)}${symbols.of(row.state)} ${printable(row.node)}${kind}  ${state}${needs === '' ? '' : `  ${paint('dim', `<- ${needs}`)}`}`;
    })
    .join('\n');
}

const needsMax = 6;

function needsText({ plan }: LoadedRun, row: NodeRow): string {
  const needs = plan.nodes[row.index]?.needs ?? [];
  const shown = needs.slice(0, needsMax).map((edge) => {
    const label = edgeLabel(edge);
    return `${printable(plan.nodes[edge.upstream]?.name ?? '?')}${label === '' ? '' : ` (${label})`}`;
  });
  return needs.length > shown.length ? `${shown.join(', ')} and ${needs.length - shown.length} more` : shown.join(', ');
}
