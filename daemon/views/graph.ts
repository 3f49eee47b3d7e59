/** The graph of a run with its states laid over it (000 §319): for a terminal, for Mermaid, for Graphviz. */
import type { NodeRow, PlannedEdge } from '../../machines/index.ts';
import type { LoadedRun } from '../../store/index.ts';

export const graphFormats = ['text', 'mermaid', 'dot'] as const;
export type GraphFormat = (typeof graphFormats)[number];

/** Colours of the two drawing languages; loss and retries are not red. */
const colors: Readonly<Record<string, string>> = {
  Succeeded: '#b7e4c7',
  Satisfied: '#b7e4c7',
  Failed: '#f4b6b6',
  TimedOut: '#f4b6b6',
  Rejected: '#f4b6b6',
  Cancelled: '#f7e3a1',
  Lost: '#e3c6f0',
  RetryWaiting: '#e3c6f0',
  Eligible: '#d6ecf7',
  Leased: '#d6ecf7',
  Preparing: '#a9d2f3',
  Running: '#a9d2f3',
  UploadingOutputs: '#a9d2f3',
  Skipped: '#eeeeee',
  Pending: '#ffffff',
};

const colorOf = (row: NodeRow): string => colors[row.state] ?? '#ffffff';

export function edgeLabel(edge: PlannedEdge): string {
  if (!edge.required) return 'any end';
  return edge.condition === 'success' ? '' : edge.condition;
}

export function mermaidGraph({ nodes, plan }: LoadedRun): string {
  const lines = ['flowchart LR'];
  for (const row of nodes) {
    const label = `"${mermaidText(row.node)}<br/>${row.state}"`;
    lines.push(`  n${row.index}${row.kind === 'gate' ? `{{${label}}}` : `[${label}]`}`);
  }
  for (const node of plan.nodes) {
    for (const edge of node.needs) {
      const label = edgeLabel(edge);
      lines.push(`  n${edge.upstream} -->${label === '' ? '' : `|${label}|`} n${node.index}`);
    }
  }
  for (const row of nodes) lines.push(`  style n${row.index} fill:${colorOf(row)},color:#000`);
  return lines.join('\n');
}

/** Mermaid reads HTML entities, and takes quotes and brackets for its own. */
const mermaidText = (text: string): string =>
  text.replace(/[^\w .=,:/@+-]/g, (character) => `#${character.codePointAt(0)};`);

export function dotGraph({ nodes, plan, run }: LoadedRun): string {
  const lines = [`digraph ${dotText(run.name)} {`, '  rankdir=LR;', '  node [style=filled, fontname="sans-serif"];'];
  for (const row of nodes) {
    const shape = row.kind === 'gate' ? 'hexagon' : 'box';
    lines.push(
      `  n${row.index} [label=${dotText(`${row.node}\n${row.state}`)}, shape=${shape}, fillcolor="${colorOf(row)}"];`,
    );
  }
  for (const node of plan.nodes) {
    for (const edge of node.needs) {
      const label = edgeLabel(edge);
      lines.push(`  n${edge.upstream} -> n${node.index}${label === '' ? '' : ` [label=${dotText(label)}]`};`);
    }
  }
  return [...lines, '}'].join('\n');
}

const dotText = (text: string): string => `"${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n')}"`;

/** In an order in which every node comes after what it needs, as far to the front as possible; stable in plan order. */
export function levels({ plan }: Pick<LoadedRun, 'plan'>): readonly number[] {
  const depth = new Array<number>(plan.nodes.length).fill(-1);
  for (const start of plan.nodes) {
    const waiting = [start.index];
    while (waiting.length > 0) {
      const at = waiting.at(-1) ?? 0;
      const needs = plan.nodes[at]?.needs ?? [];
      const open = depth[at] === -1 ? needs.filter((edge) => depth[edge.upstream] === -1) : [];
      if (open.length > 0) waiting.push(...open.map((edge) => edge.upstream));
      else {
        waiting.pop();
        if (depth[at] === -1) depth[at] = Math.max(-1, ...needs.map((edge) => depth[edge.upstream] ?? 0)) + 1;
      }
    }
  }
  return depth;
}
