/** What a waiting job or gate still waits for. */
import type { EdgeCondition, NodeRow, PlannedEdge } from '../../machines/index.ts';
import { judgeEdge } from '../../machines/index.ts';
import { publicId } from '../ids/index.ts';
import { durationText, reasonText } from '../views/index.ts';
import type { ExplainRows } from './explanation.ts';
import { address, nodeAt } from './explanation.ts';

/** More lines than this are not read. */
const linesMax = 10;

const conditionTexts: Readonly<Record<EdgeCondition, string>> = {
  success: 'to succeed',
  completed: 'to end with a result',
  always: 'to end',
  failure: 'to fail',
};

function conditionText(edge: PlannedEdge, upstream: NodeRow): string {
  if (!edge.required) return 'to end, whatever the end';
  if (upstream.kind === 'gate' && edge.condition === 'success') return 'to be approved';
  return conditionTexts[edge.condition];
}

export interface WaitingFor {
  readonly open: readonly string[];
  readonly decided: number;
  readonly total: number;
}

export function waitingFor(rows: ExplainRows, index: number): WaitingFor {
  const needs = rows.loaded.plan.nodes[index]?.needs ?? [];
  const open = needs.filter((edge) => judgeEdge(edge, nodeAt(rows.loaded, edge.upstream)).kind === 'undecided');
  const lines = open.map((edge) => {
    const upstream = nodeAt(rows.loaded, edge.upstream);
    return `waits for ${upstream.kind} ${upstream.node} ${conditionText(edge, upstream)}: ${stateText(upstream, rows)}`;
  });
  return { open: limited(lines), decided: needs.length - open.length, total: needs.length };
}

export function limited(lines: readonly string[]): readonly string[] {
  if (lines.length <= linesMax) return lines;
  return [...lines.slice(0, linesMax), `and ${lines.length - linesMax} more`];
}

function stateText(row: NodeRow, { now }: ExplainRows): string {
  if (row.kind === 'gate')
    return row.openedAt === null
      ? 'it is not open yet'
      : `it waits for a decision since ${durationText(now - row.openedAt)}`;
  const since = row.state === 'Running' && row.startedAt !== null ? ` since ${durationText(now - row.startedAt)}` : '';
  return `it is ${row.state}${since}`;
}

/**
 * The nodes whose own end comes next on the way to this one: everything above it that has not ended and waits for
 * nothing above itself. Breadth first, each node once.
 */
export function frontier(rows: ExplainRows, index: number): readonly NodeRow[] {
  const seen = new Set([index]);
  const found: NodeRow[] = [];
  for (let level = [index]; level.length > 0; ) {
    const above: number[] = [];
    for (const at of level) {
      const open = (rows.loaded.plan.nodes[at]?.needs ?? []).filter(
        (edge) => judgeEdge(edge, nodeAt(rows.loaded, edge.upstream)).kind === 'undecided',
      );
      if (open.length === 0 && at !== index) found.push(nodeAt(rows.loaded, at));
      for (const { upstream } of open) {
        if (seen.has(upstream)) continue;
        seen.add(upstream);
        above.push(upstream);
      }
    }
    level = above;
  }
  return found;
}

/** Names those who may decide, unless whoever asks is one of them. */
function decidedBy(gate: NodeRow, { loaded, actor }: ExplainRows): string {
  const planned = loaded.plan.nodes[gate.index];
  const approvers = planned?.kind === 'gate' ? planned.approvers : [];
  if (approvers.length === 0 || (actor !== undefined && approvers.includes(actor))) return '';
  return `gate ${gate.node} is decided by ${limited(approvers).join(', ')}: `;
}

/** One thing a person can do, or wait for, about a node of the frontier. */
export function nextAbout(row: NodeRow, rows: ExplainRows): string {
  const run = publicId('run', rows.loaded.run.id);
  if (row.kind === 'gate') {
    const expiry = row.expiresAt === null ? '' : ` (it expires in ${durationText(row.expiresAt - rows.now)})`;
    if (row.openedAt === null) return `gate ${row.node} opens by itself`;
    return `${decidedBy(row, rows)}forgeyard gate approve ${address(run, row.node)}${expiry}`;
  }
  const reason = row.state === 'RetryWaiting' ? `, ${reasonText(row.reason)}` : '';
  return `job ${row.node} has to end (${row.state}${reason}): forgeyard job explain ${address(run, row.node)}`;
}
