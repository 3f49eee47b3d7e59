/** Creation: a commit like any other, which also judges what waits for nothing (000 §219-223). */
import type { Changes } from '../model/decision.ts';
import type { Digest, GateId, JobId, RunId } from '../model/ids.ts';
import type { GateRow, JobRow, NodeRow, RunRow } from '../model/rows.ts';
import type { ExecutablePlan, PlannedGate, PlannedJob } from '../plan/plan.ts';
import { skipSatisfies } from '../policies/dependencies.ts';
import type { Draft, RunAggregate } from '../state/run-state.ts';
import { aggregateOf, draftOver, isEnded } from '../state/run-state.ts';
import type { DecideContext } from './context.ts';
import { finish } from './finish.ts';
import { stepJob } from './job-step.ts';
import { judge, propagate } from './propagate.ts';
import { record } from './record.ts';

export interface CreateRun {
  readonly runId: RunId;
  readonly plan: ExecutablePlan;
  readonly planDigest: Digest;
  readonly requestId: string;
  readonly tenant: string;
  readonly rerunOf: RunId | null;
  /** One id per node, in plan order. */
  readonly nodeIds: readonly string[];
}

/** The rows a run begins with, before its first fact: what folding its facts starts from. */
export function genesis(
  create: CreateRun,
  context: Pick<DecideContext, 'now' | 'actor' | 'creditSequence'>,
): RunAggregate {
  const { plan } = create;
  if (create.nodeIds.length !== plan.nodes.length)
    throw new Error(`a plan of ${plan.nodes.length} nodes needs as many ids`);
  const run: RunRow = {
    id: create.runId,
    project: plan.project,
    tenant: create.tenant,
    name: plan.name,
    planDigest: create.planDigest,
    source: plan.source,
    createdBy: context.actor,
    requestId: create.requestId,
    rerunOf: create.rerunOf,
    labels: plan.labels,
    priority: plan.priority,
    concurrencyGroup: plan.concurrency?.group ?? null,
    state: 'Queued',
    intent: null,
    reason: null,
    createdAt: context.now,
    startedAt: null,
    finishedAt: null,
    deadlineAt: plan.deadlineMs === null ? null : context.now + plan.deadlineMs,
    creditSequence: context.creditSequence,
    version: 0,
    sequence: 0,
  };
  const nodes: NodeRow[] = plan.nodes.map((node, at) => {
    const id = create.nodeIds[at] ?? '';
    return node.kind === 'job' ? newJob(create.runId, id as JobId, node) : newGate(create.runId, id as GateId, node);
  });
  return aggregateOf({ run, plan, nodes, attempts: [], leases: [] });
}

export interface Created {
  readonly changes: Changes;
  /** Every node of the run, also those the commit did not touch. */
  readonly nodes: readonly NodeRow[];
}

/** Decides the first commit of a run. The caller has compiled and checked the plan. */
export function decideCreate(create: CreateRun, context: DecideContext): Created {
  const state = genesis(create, context);
  const draft = draftOver(state);
  record(draft, context, {
    entity: 'run',
    type: 'RunCreated',
    from: null,
    to: 'Queued',
    reason: { code: 'RunRequested' },
    version: 1,
    set: {},
  });
  const ended = judgeRoots(draft, context);
  const left = propagate(draft, context, ended);
  const changes = finish(draft, [], left);
  return { changes, nodes: state.nodes.map((row) => draft.changedNodes.get(row.index) ?? row) };
}

/** Nodes whose condition the planner found false, and nodes without edges. */
function judgeRoots(draft: Draft, context: DecideContext): readonly number[] {
  const ended: number[] = [];
  for (const node of draft.index.plan.nodes) {
    if (node.kind === 'job' && !node.condition.holds) {
      const { reason: code, message } = node.condition;
      const reason = message === null ? { code } : { code, message };
      stepJob(draft, context, node.index, 'Skip', { skip: { reason, satisfies: skipSatisfies(code) } });
    } else if (node.needs.length === 0) judge(draft, context, node.index);
    if (isEnded(draft.node(node.index))) ended.push(node.index);
  }
  return ended;
}

function newJob(runId: RunId, id: JobId, planned: PlannedJob): JobRow {
  return {
    kind: 'job',
    id,
    runId,
    index: planned.index,
    node: planned.name,
    specDigest: planned.specDigest,
    required: planned.required,
    failureImpact: planned.failureImpact,
    matrixGroup: planned.matrix?.group ?? null,
    capabilities: planned.spec.capabilities,
    state: 'Pending',
    intent: null,
    terminateBy: null,
    reason: null,
    failureClass: null,
    attemptCount: 0,
    leaseEpoch: 0,
    currentAttempt: null,
    currentLease: null,
    workloadFailures: 0,
    infrastructureFailures: 0,
    refusals: 0,
    refusedBy: [],
    retryNotBefore: null,
    queueDeadlineAt: null,
    executionSource: null,
    satisfies: null,
    outputs: [],
    eligibleAt: null,
    leasedAt: null,
    preparingAt: null,
    startedAt: null,
    uploadingAt: null,
    finishedAt: null,
    version: 0,
  };
}

const newGate = (runId: RunId, id: GateId, planned: PlannedGate): GateRow => ({
  kind: 'gate',
  id,
  runId,
  index: planned.index,
  node: planned.name,
  state: 'Pending',
  reason: null,
  openedAt: null,
  expiresAt: null,
  decidedBy: null,
  finishedAt: null,
  version: 0,
});
