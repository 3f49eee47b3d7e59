/**
 * When a waiting node may go on, must be skipped, or waits (000 §74-78, §156-158; state-machines: Dependencies).
 * Judged on persisted rows only; what is not known is never satisfied.
 */
import type { ReasonCode } from '../model/codes.ts';
import type { GateRow, JobRow, NodeRow, Reason } from '../model/rows.ts';
import type { PlannedEdge } from '../plan/plan.ts';
import type { RunView } from '../state/run-state.ts';
import { isEnded } from '../state/run-state.ts';

export type EdgeJudgement =
  | { readonly kind: 'undecided' }
  | { readonly kind: 'satisfied' }
  | { readonly kind: 'condition-not-met' }
  | { readonly kind: 'unmet'; readonly reason: Reason };

export type NodeVerdict =
  | { readonly kind: 'undecided' }
  | { readonly kind: 'satisfied' }
  | { readonly kind: 'skip'; readonly reason: Reason; readonly satisfies: boolean };

const undecided = { kind: 'undecided' } as const;
const satisfied = { kind: 'satisfied' } as const;
const conditionNotMet = { kind: 'condition-not-met' } as const;
const notMetVerdict: NodeVerdict = { kind: 'skip', reason: { code: 'ConditionNotMet' }, satisfies: true };

/** Reasons of skips that satisfy dependents and the run (000 §157). */
const satisfyingSkips: ReadonlySet<ReasonCode> = new Set(['ConditionFalse', 'ConditionNotMet', 'PlanPruned', 'Manual']);
export const skipSatisfies = (code: ReasonCode): boolean => satisfyingSkips.has(code);

/** One edge, alone. `failure` edges decide as a group: here they are only satisfied, undecided or not met. */
export function judgeEdge(edge: PlannedEdge, upstream: NodeRow): EdgeJudgement {
  if (!isEnded(upstream)) return undecided;
  if (!edge.required || edge.condition === 'always') return satisfied;
  if (edge.condition === 'failure') return upstreamFailed(upstream) ? satisfied : conditionNotMet;
  return upstream.kind === 'job' ? judgeJobEnd(edge.condition, upstream) : judgeGateEnd(edge.condition, upstream);
}

/** Failed and TimedOut (also allowed ones), and a rejected gate. */
function upstreamFailed(upstream: NodeRow): boolean {
  return upstream.kind === 'job'
    ? upstream.state === 'Failed' || upstream.state === 'TimedOut'
    : upstream.state === 'Rejected';
}

function judgeJobEnd(condition: 'success' | 'completed', job: JobRow): EdgeJudgement {
  switch (job.state) {
    case 'Succeeded':
      return satisfied;
    case 'Failed':
    case 'TimedOut':
      return condition === 'completed' || job.failureImpact === 'allowed'
        ? satisfied
        : unmet({ code: 'UpstreamFailed', root: job.node });
    case 'Cancelled':
      return unmet({ code: job.reason?.code === 'FailFast' ? 'UpstreamFailed' : 'UpstreamCancelled', root: job.node });
    case 'Skipped':
      if (job.satisfies !== true) return unmet(passedOn(job));
      return condition === 'success' ? satisfied : conditionNotMet;
    default:
      return undecided;
  }
}

function judgeGateEnd(condition: 'success' | 'completed', gate: GateRow): EdgeJudgement {
  switch (gate.state) {
    case 'Satisfied':
      return satisfied;
    case 'Rejected':
      return condition === 'completed' ? satisfied : unmet({ code: 'UpstreamFailed', root: gate.node });
    case 'Cancelled':
      return gate.reason?.code === 'ConditionNotMet' ? conditionNotMet : unmet(passedOn(gate));
    case 'Pending':
      return undecided;
  }
}

const unmet = (reason: Reason): EdgeJudgement => ({ kind: 'unmet', reason });

/** A skipped job and a cancelled gate pass their own reason and root on. */
function passedOn(row: NodeRow): Reason {
  const code = row.reason?.code ?? 'UpstreamCancelled';
  return { code: code === 'FailFast' ? 'UpstreamFailed' : code, root: row.reason?.root ?? row.node };
}

/** The verdict of a waiting node over all its edges; O(edges into it). Of several unmet edges plan order names the root. */
export function judgeNode(view: RunView, at: number): NodeVerdict {
  const needs = view.index.plan.nodes[at]?.needs ?? [];
  let open = false;
  let notMet = false;
  let failureEdges = 0;
  let failureQualified = false;
  let unmetBy: { readonly upstream: number; readonly reason: Reason } | null = null;
  for (const edge of needs) {
    const judgement = judgeEdge(edge, view.node(edge.upstream));
    if (judgement.kind === 'unmet') {
      if (unmetBy === null || edge.upstream < unmetBy.upstream)
        unmetBy = { upstream: edge.upstream, reason: judgement.reason };
    } else if (judgement.kind === 'undecided') open = true;
    if (isFailureEdge(edge)) {
      failureEdges += 1;
      failureQualified ||= judgement.kind === 'satisfied';
    } else if (judgement.kind === 'condition-not-met') notMet = true;
  }
  if (unmetBy !== null) return { kind: 'skip', reason: unmetBy.reason, satisfies: skipSatisfies(unmetBy.reason.code) };
  if (open) return undecided;
  return notMet || (failureEdges > 0 && !failureQualified) ? notMetVerdict : satisfied;
}

const isFailureEdge = (edge: PlannedEdge): boolean => edge.required && edge.condition === 'failure';

/**
 * The verdict of a waiting node after some of its upstreams ended: only the edges to those are new, so a fan-in
 * of n costs O(n) over its life and not O(n^2).
 */
export function judgeAfterEnds(view: RunView, at: number, ended: readonly PlannedEdge[]): NodeVerdict {
  for (const edge of ended) {
    const judgement = judgeEdge(edge, view.node(edge.upstream));
    if (judgement.kind === 'unmet')
      return { kind: 'skip', reason: judgement.reason, satisfies: skipSatisfies(judgement.reason.code) };
  }
  return view.openUpstreams(at) === 0 ? judgeNode(view, at) : undecided;
}

/** Whether the node is still to be judged at all. */
export function isWaitingForVerdict(row: NodeRow): boolean {
  return row.state === 'Pending' && (row.kind === 'job' || row.openedAt === null);
}
