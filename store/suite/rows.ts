/** Rows for the suite, made by hand: the store is judged without the code that decides. */
import type {
  Digest,
  ExecutablePlan,
  GateId,
  GateRow,
  JobId,
  JobRow,
  JobSpec,
  NodeName,
  NodeRow,
  PlannedEdge,
  PlannedNode,
  RunId,
  RunRow,
  Timestamp,
} from '../../machines/index.ts';
import { id } from './ids.ts';

const spec: JobSpec = {
  steps: [
    {
      name: 'run',
      command: { kind: 'argv', argv: ['true'] },
      env: {},
      workingDirectory: null,
      timeoutMs: null,
      failureClass: null,
    },
  ],
  env: {},
  workingDirectory: null,
  outputs: [],
  reports: [],
  secrets: {},
  capabilities: [],
  matrix: {},
  inputsFrom: [],
  timeouts: {
    queueMs: null,
    preparationMs: null,
    executionMs: null,
    executionIncludesPreparation: false,
    uploadMs: null,
    terminationGraceMs: 10_000,
  },
  connectivity: { kind: 'continuous' },
};

export const aDigest = (name: string): Digest => id<Digest>(`sha256:${name}`);

export interface NodeOptions {
  readonly kind?: 'job' | 'gate';
  readonly name?: string;
  readonly needs?: readonly PlannedEdge[];
  readonly capabilities?: readonly string[];
  readonly cacheKey?: string;
}

export function makePlan(nodes: readonly NodeOptions[], project = 'suite'): ExecutablePlan {
  return {
    schemaVersion: 1,
    project,
    name: 'made by hand',
    source: { kind: 'directory', commit: null, dirty: false },
    deadlineMs: null,
    failFast: false,
    labels: {},
    priority: 0,
    concurrency: null,
    nodes: nodes.map(plannedNode),
  };
}

function plannedNode(options: NodeOptions, index: number): PlannedNode {
  const name = id<NodeName>(options.name ?? `node-${index}`);
  const needs = options.needs ?? [];
  if (options.kind === 'gate') {
    return { kind: 'gate', index, name, needs, approvers: [], expiryMs: null, onExpiry: 'reject', description: null };
  }
  return {
    kind: 'job',
    index,
    name,
    needs,
    spec: { ...spec, capabilities: options.capabilities ?? [] },
    specDigest: aDigest(`spec-${index}`),
    condition: { holds: true },
    required: true,
    failureImpact: 'blocking',
    retry: { attemptsMax: 1, retryOn: [], infrastructureRetriesMax: 3, backoff: { kind: 'none' } },
    completionAfterIntent: 'honor_intent',
    cacheKey: options.cacheKey ?? null,
    matrix: null,
  };
}

export interface RunOptions {
  readonly runId: RunId;
  readonly plan: ExecutablePlan;
  readonly now: Timestamp;
  readonly requestId?: string;
  readonly priority?: number;
  readonly concurrencyGroup?: string;
}

export function newRunRow(options: RunOptions): RunRow {
  return {
    id: options.runId,
    project: options.plan.project,
    tenant: 'default',
    name: options.plan.name,
    planDigest: aDigest(`plan-${options.runId}`),
    source: options.plan.source,
    createdBy: 'user:local',
    requestId: options.requestId ?? `request-${options.runId}`,
    rerunOf: null,
    labels: { made: 'by hand' },
    priority: options.priority ?? 0,
    concurrencyGroup: options.concurrencyGroup ?? null,
    state: 'Queued',
    intent: null,
    reason: { code: 'RunRequested' },
    createdAt: options.now,
    startedAt: null,
    finishedAt: null,
    deadlineAt: null,
    creditSequence: 0,
    version: 1,
    sequence: 1,
  };
}

/** Nodes without needs begin Eligible, the others Pending. */
export function newNodeRow(runId: RunId, planned: PlannedNode, now: Timestamp): NodeRow {
  return planned.kind === 'gate' ? newGateRow(runId, planned) : newJobRow(runId, planned, now);
}

function newGateRow(runId: RunId, { index, name }: PlannedNode): GateRow {
  return {
    kind: 'gate',
    id: id<GateId>(`${runId}.gate-${index}`),
    runId,
    index,
    node: name,
    state: 'Pending',
    reason: null,
    openedAt: null,
    expiresAt: null,
    decidedBy: null,
    finishedAt: null,
    version: 1,
  };
}

function newJobRow(runId: RunId, planned: Extract<PlannedNode, { kind: 'job' }>, now: Timestamp): JobRow {
  const isEligible = planned.needs.length === 0;
  return {
    kind: 'job',
    id: id<JobId>(`${runId}.job-${planned.index}`),
    runId,
    index: planned.index,
    node: planned.name,
    specDigest: planned.specDigest,
    required: planned.required,
    failureImpact: planned.failureImpact,
    matrixGroup: planned.matrix?.group ?? null,
    capabilities: planned.spec.capabilities,
    state: isEligible ? 'Eligible' : 'Pending',
    intent: null,
    terminateBy: null,
    reason: isEligible ? { code: 'NoDependencies' } : null,
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
    eligibleAt: isEligible ? now : null,
    leasedAt: null,
    preparingAt: null,
    startedAt: null,
    uploadingAt: null,
    finishedAt: null,
    version: 1,
  };
}
