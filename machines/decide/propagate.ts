/**
 * What the end of a node means for the rest of the graph, in the same commit (000 §158-160, §87-88, §154-155).
 * Order: the ends, their dependents in plan order, fail-fast, the dependents of what it ended, gates that nobody
 * needs any more, then the run. What goes further is left to follow-up commands (`judge`).
 */

import type { ReasonCode } from '../model/codes.ts';
import type { JobIntent, NodeRow, RunIntentKind } from '../model/rows.ts';
import type { PlannedEdge } from '../plan/plan.ts';
import type { NodeVerdict } from '../policies/dependencies.ts';
import { isWaitingForVerdict, judgeAfterEnds, judgeNode } from '../policies/dependencies.ts';
import type { Draft } from '../state/run-state.ts';
import { isEnded } from '../state/run-state.ts';
import type { DecideContext } from './context.ts';
import { stepGate } from './gate-step.ts';
import { stepJob } from './job-step.ts';
import { stepRun } from './run-step.ts';

/** Propagates the ends of a command and settles the run; gives the nodes left for follow-up commands. */
export function propagate(draft: Draft, context: DecideContext, ended: readonly number[]): readonly number[] {
  const judge: number[] = [];
  if (draft.run.intent === null && ended.length > 0) {
    const skipped = judgeDependents(draft, context, ended, judge);
    const failed = applyFailFast(draft, context, ended);
    const later = judgeDependents(draft, context, failed, judge);
    leaveDependents(draft, [...skipped, ...later], judge);
    cancelUnneededGates(draft, context, [...ended, ...skipped, ...failed, ...later]);
  }
  settle(draft, context);
  return judge;
}

/** Judges the direct dependents of the ended nodes; gives those that ended by it. */
function judgeDependents(
  draft: Draft,
  context: DecideContext,
  ended: readonly number[],
  judge: number[],
): readonly number[] {
  const affected = new Map<number, PlannedEdge[]>();
  for (const from of ended) {
    for (const { to, edge } of draft.index.downstream[from] ?? []) {
      if (!isWaitingForVerdict(draft.node(to))) continue;
      const edges = affected.get(to);
      if (edges === undefined) affected.set(to, [edge]);
      else edges.push(edge);
    }
  }
  const inPlanOrder = [...affected.keys()].sort((a, b) => a - b);
  const alsoEnded: number[] = [];
  for (const [place, at] of inPlanOrder.entries()) {
    if (place >= context.limits.inlineDependentsMax) {
      // Not by spreading: a fan-out of 100,000 would overflow the argument list.
      for (const left of inPlanOrder.slice(place)) judge.push(left);
      break;
    }
    const edges = (affected.get(at) ?? []).toSorted((a, b) => a.upstream - b.upstream);
    if (applyVerdict(draft, context, at, judgeAfterEnds(draft, at, edges))) alsoEnded.push(at);
  }
  return alsoEnded;
}

/** Judges one waiting node over all its edges; true when it ended by it. */
export function judge(draft: Draft, context: DecideContext, at: number): boolean {
  if (!isWaitingForVerdict(draft.node(at))) return false;
  return applyVerdict(draft, context, at, judgeNode(draft, at));
}

function applyVerdict(draft: Draft, context: DecideContext, at: number, verdict: NodeVerdict): boolean {
  const isJob = draft.node(at).kind === 'job';
  switch (verdict.kind) {
    case 'undecided':
      return false;
    case 'satisfied': {
      const reason: ReasonCode =
        draft.index.plan.nodes[at]?.needs.length === 0 ? 'NoDependencies' : 'DependenciesSatisfied';
      if (isJob) stepJob(draft, context, at, 'DependenciesSatisfied', { reason });
      else stepGate(draft, context, at, 'PrerequisitesSatisfied', { code: 'GateReady' });
      return false;
    }
    case 'skip':
      if (isJob)
        stepJob(draft, context, at, 'Skip', { skip: { reason: verdict.reason, satisfies: verdict.satisfies } });
      else stepGate(draft, context, at, 'PrerequisiteUnmet', verdict.reason);
      return isEnded(draft.node(at));
  }
}

/** Dependents of what was skipped are judged by a follow-up command. */
function leaveDependents(draft: Draft, ended: readonly number[], judge: number[]): void {
  const left = new Set<number>();
  for (const from of ended) {
    for (const { to } of draft.index.downstream[from] ?? []) if (isWaitingForVerdict(draft.node(to))) left.add(to);
  }
  for (const at of [...left].sort((a, b) => a - b)) judge.push(at);
}

/** Ends the scopes of final blocking failures (state-machines: Fail-fast); gives what it ended. */
function applyFailFast(draft: Draft, context: DecideContext, ended: readonly number[]): readonly number[] {
  const stopped: number[] = [];
  const groups = new Set<string>();
  let whole = false;
  for (const at of ended) {
    const row = draft.node(at);
    if (row.kind !== 'job' || !isBlockingFailure(row)) continue;
    const { matrix } = draft.index.job(at);
    if (matrix?.failFast === true) groups.add(matrix.group);
    if (draft.index.plan.failFast && row.required) whole = true;
  }
  for (const group of groups) {
    const handlers = draft.index.handlers(group);
    stopAll(
      draft,
      context,
      (draft.index.matrixGroups.get(group) ?? []).filter((at) => !handlers.has(at)),
      stopped,
    );
  }
  if (whole) stopRunScope(draft, context, stopped);
  return stopped;
}

const isBlockingFailure = (row: NodeRow): boolean =>
  row.kind === 'job' && row.failureImpact === 'blocking' && (row.state === 'Failed' || row.state === 'TimedOut');

function stopRunScope(draft: Draft, context: DecideContext, stopped: number[]): void {
  const handlers = draft.index.handlers(null);
  const nodes = draft.index.plan.nodes;
  stopAll(
    draft,
    context,
    nodes.filter((node) => node.kind === 'job' && !handlers.has(node.index)).map((node) => node.index),
    stopped,
  );
  for (const node of nodes) {
    if (node.kind !== 'gate' || (draft.index.downstreamEdges[node.index] ?? 0) > 0 || isEnded(draft.node(node.index)))
      continue;
    stepGate(draft, context, node.index, 'TerminationRequested', { code: 'FailFast' });
    stopped.push(node.index);
  }
}

function stopAll(draft: Draft, context: DecideContext, jobs: readonly number[], stopped: number[]): void {
  for (const at of jobs) {
    if (isEnded(draft.node(at))) continue;
    stepJob(draft, context, at, 'TerminationRequested', { requested: { kind: 'FailFast', reason: 'FailFast' } });
    if (isEnded(draft.node(at))) stopped.push(at);
  }
}

/** A gate that had dependents, all of which ended without it, is cancelled; this cascades upwards. */
function cancelUnneededGates(draft: Draft, context: DecideContext, ended: readonly number[]): void {
  const queue = [...ended];
  for (let from = queue.pop(); from !== undefined; from = queue.pop()) {
    for (const { upstream } of draft.index.plan.nodes[from]?.needs ?? []) {
      if (isUnneededGate(draft, upstream)) {
        stepGate(draft, context, upstream, 'NotNeeded', { code: 'NotNeeded' });
        queue.push(upstream);
      }
    }
  }
}

export function isUnneededGate(draft: Pick<Draft, 'node' | 'index' | 'openDependents'>, at: number): boolean {
  const row = draft.node(at);
  return (
    row.kind === 'gate' &&
    row.state === 'Pending' &&
    (draft.index.downstreamEdges[at] ?? 0) > 0 &&
    draft.openDependents(at) === 0
  );
}

/** Settled or Drained, where the draft finds it true. */
export function settle(draft: Draft, context: DecideContext): void {
  const { run } = draft;
  if (run.intent !== null) {
    if (run.state === 'Cancelling' && draft.heldJobs === 0)
      stepRun(draft, context, 'Drained', { reason: { code: intentReason[run.intent.kind] } });
    return;
  }
  if (draft.openNodes > 0 || run.state === 'Cancelling') return;
  const before = run.state;
  stepRun(draft, context, 'Settled', { reason: { code: 'RequiredJobsSucceeded' } });
  if (draft.run.state === before) throw new Error(`run ${run.id} has no open node and did not settle`);
}

export const intentReason: { readonly [K in RunIntentKind]: ReasonCode } = {
  Cancelled: 'RunCancelled',
  TimedOut: 'RunDeadline',
  Superseded: 'Superseded',
};

/** The job intent that a run intent means. */
function jobIntentOf(kind: RunIntentKind): JobIntent {
  return kind === 'Superseded'
    ? { kind: 'Superseded', reason: 'Superseded' }
    : { kind: 'Cancelled', reason: intentReason[kind] };
}

/** Ends what waits and asks what is held to stop, because the run has an intent. */
export function applyRunIntent(
  draft: Draft,
  context: DecideContext,
  kind: RunIntentKind,
  nodes: Iterable<number>,
): void {
  const requested = jobIntentOf(kind);
  for (const at of nodes) {
    const row = draft.node(at);
    if (isEnded(row)) continue;
    if (row.kind === 'gate') stepGate(draft, context, at, 'TerminationRequested', { code: requested.reason });
    else stepJob(draft, context, at, 'TerminationRequested', { requested });
  }
}
