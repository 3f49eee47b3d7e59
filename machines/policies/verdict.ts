/**
 * The verdict of a run whose nodes have all ended (000 §81-85, §154-157; state-machines: Run).
 * A function of the plan and the ends, never of their order.
 */
import type { NodeRow } from '../model/rows.ts';
import type { PlanIndex } from '../plan/plan-index.ts';

export type RunVerdict = 'success' | 'failure' | 'cancelled';

/** The ends, as far as the verdict looks at them. */
export interface EndedNodes {
  readonly index: PlanIndex;
  node(at: number): NodeRow;
}

/** O(nodes + edges). Meaningful only when every node has ended. */
export function runVerdict(view: EndedNodes): RunVerdict {
  const count = view.index.plan.nodes.length;
  const belowFailure = nodesBelowFailure(view, count);
  let blocking = false;
  for (let at = 0; at < count; at += 1) {
    const row = view.node(at);
    if (!isBlockingEnd(row, view.index)) continue;
    blocking = true;
    if (isFailingEnd(row) || belowFailure.has(at)) return 'failure';
  }
  return blocking ? 'cancelled' : 'success';
}

/** An end that keeps the run from succeeding. */
export function isBlockingEnd(row: NodeRow, index: PlanIndex): boolean {
  if (row.kind === 'gate') {
    if ((index.downstreamEdges[row.index] ?? 0) > 0) return false;
    return row.state === 'Rejected' || (row.state === 'Cancelled' && isUnmet(row));
  }
  if (!row.required) return false;
  switch (row.state) {
    case 'Failed':
    case 'TimedOut':
      return row.failureImpact === 'blocking';
    case 'Cancelled':
      return row.reason?.code === 'FailFast' || row.failureImpact === 'blocking';
    case 'Skipped':
      return row.satisfies === false;
    default:
      return false;
  }
}

const isUnmet = (row: NodeRow): boolean =>
  row.reason?.code === 'UpstreamFailed' || row.reason?.code === 'UpstreamCancelled' || row.reason?.code === 'Policy';

/** A blocking end that says failure by itself. */
function isFailingEnd(row: NodeRow): boolean {
  if (row.state === 'Failed' || row.state === 'TimedOut' || row.state === 'Rejected') return true;
  return row.reason?.code === 'FailFast' || row.reason?.code === 'Policy';
}

/** Everything below, by any path, an end that is a failure of its own. */
function nodesBelowFailure(view: EndedNodes, count: number): ReadonlySet<number> {
  const below = new Set<number>();
  const queue: number[] = [];
  for (let at = 0; at < count; at += 1) if (isFailureSource(view.node(at))) queue.push(at);
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const { to } of view.index.downstream[at] ?? []) {
      if (below.has(to)) continue;
      below.add(to);
      queue.push(to);
    }
  }
  return new Set([...below].filter((at) => endedWithoutRunning(view.node(at))));
}

function isFailureSource(row: NodeRow): boolean {
  if (row.kind === 'gate') return row.state === 'Rejected';
  if (row.state === 'Failed' || row.state === 'TimedOut') return row.failureImpact === 'blocking';
  if (row.state === 'Cancelled') return row.reason?.code === 'FailFast';
  return row.state === 'Skipped' && row.reason?.code === 'Policy' && row.reason.root === undefined;
}

const endedWithoutRunning = (row: NodeRow): boolean =>
  row.state === 'Skipped' || (row.kind === 'gate' && row.state === 'Cancelled');
