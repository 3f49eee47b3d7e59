/**
 * Random small plans, built without the compiler: it would refuse some of what a later version may allow, and
 * takes longer than a whole history. Edges lead from lower to higher indexes only, so there is no cycle.
 */
import fc from 'fast-check';
import type {
  ExecutablePlan,
  JobSpec,
  PlannedEdge,
  PlannedGate,
  PlannedJob,
  PlannedNode,
} from '../../machines/index.ts';
import { job } from '../../machines/plan/index.ts';
import { fakeDigest, idOf, planFor } from '../core/index.ts';

const nodesMax = 8;
/** A spec with every field, so that only what matters is written here. */
const [template] = planFor([job('template')]).nodes;

const edge = fc.record({
  back: fc.integer({ min: 1, max: 4 }),
  condition: fc.constantFrom('success', 'success', 'success', 'completed', 'always', 'failure', 'failure'),
  required: fc.integer({ min: 0, max: 7 }).map((draw) => draw > 0),
});

const node = fc.record({
  gate: fc.integer({ min: 0, max: 4 }).map((draw) => draw === 0),
  needs: fc.array(edge, { maxLength: 3 }),
  required: fc.integer({ min: 0, max: 4 }).map((draw) => draw > 0),
  failureImpact: fc.constantFrom('blocking', 'blocking', 'blocking', 'allowed'),
  attemptsMax: fc.integer({ min: 1, max: 3 }),
  retryOn: fc.constantFrom(['UserCommand', 'Timeout'], ['UserCommand'], ['Timeout'], []),
  infrastructureRetriesMax: fc.integer({ min: 0, max: 2 }),
  backoff: fc.constantFrom('none', 'none', 'fixed', 'exponential'),
  timeouts: fc.integer({ min: 0, max: 31 }),
  completionAfterIntent: fc.constantFrom('honor_intent', 'honor_intent', 'accept_success'),
  condition: fc.constantFrom(null, null, null, null, null, null, null, 'ConditionFalse', 'PlanPruned', 'Policy'),
  matrix: fc.constantFrom(null, null, 'm', 'm', 'n'),
  connectivity: fc.constantFrom('continuous', 'continuous', 'grace', 'offline_authorized'),
  capabilities: fc.constantFrom([], [], [], ['gpu']),
  approvers: fc.constantFrom([], [], ['user:eve']),
  expiry: fc.constantFrom(null, null, 60_000),
  onExpiry: fc.constantFrom('reject', 'satisfy'),
});
type NodeDraw = typeof node extends fc.Arbitrary<infer Draw> ? Draw : never;

export const planArbitrary: fc.Arbitrary<ExecutablePlan> = fc
  .record({
    nodes: fc.array(node, { minLength: 1, maxLength: nodesMax, size: 'max' }),
    failFast: fc.integer({ min: 0, max: 3 }).map((draw) => draw === 0),
    matrixFailFast: fc.boolean(),
    deadlineMs: fc.constantFrom(null, null, 120_000, 600_000),
  })
  .map(({ nodes, failFast, matrixFailFast, deadlineMs }) => ({
    schemaVersion: 1,
    project: 'histories',
    name: 'random',
    source: { kind: 'directory', commit: null, dirty: false },
    deadlineMs,
    failFast,
    labels: {},
    priority: 0,
    concurrency: null,
    // A plan has at least one job.
    nodes: nodes.map((draw, index) =>
      draw.gate && index > 0 ? gateOf(draw, index) : jobOf(draw, index, matrixFailFast),
    ),
  }));

const nameOf = (index: number): PlannedNode['name'] => idOf(`n${index}`);

function needsOf(draw: NodeDraw, index: number): readonly PlannedEdge[] {
  const edges = new Map<number, PlannedEdge>();
  for (const { back, condition, required } of draw.needs) {
    const upstream = index - back;
    if (upstream >= 0) edges.set(upstream, { upstream, condition: required ? condition : 'always', required });
  }
  return [...edges.values()].sort((a, b) => a.upstream - b.upstream);
}

const gateOf = (draw: NodeDraw, index: number): PlannedGate => ({
  kind: 'gate',
  index,
  name: nameOf(index),
  needs: needsOf(draw, index),
  approvers: draw.approvers,
  expiryMs: draw.expiry,
  onExpiry: draw.onExpiry,
  description: null,
});

function jobOf(draw: NodeDraw, index: number, matrixFailFast: boolean): PlannedJob {
  if (template?.kind !== 'job') throw new Error('the template is a job');
  const backoff =
    draw.backoff === 'none'
      ? ({ kind: 'none' } as const)
      : draw.backoff === 'fixed'
        ? ({ kind: 'fixed', delayMs: 5_000 } as const)
        : ({ kind: 'exponential', baseMs: 1_000, factor: 2, maxMs: 20_000 } as const);
  return {
    ...template,
    index,
    name: nameOf(index),
    needs: needsOf(draw, index),
    spec: specOf(draw, template.spec),
    specDigest: fakeDigest(`spec ${index}`),
    condition: draw.condition === null ? { holds: true } : { holds: false, reason: draw.condition, message: null },
    required: draw.required,
    failureImpact: draw.failureImpact,
    retry: {
      attemptsMax: draw.attemptsMax,
      retryOn: draw.retryOn,
      infrastructureRetriesMax: draw.infrastructureRetriesMax,
      backoff,
    },
    completionAfterIntent: draw.completionAfterIntent,
    matrix: draw.matrix === null ? null : { group: draw.matrix, failFast: matrixFailFast },
  };
}

function specOf(draw: NodeDraw, spec: JobSpec): JobSpec {
  const has = (bit: number, ms: number): number | null => ((draw.timeouts & bit) === 0 ? null : ms);
  return {
    ...spec,
    capabilities: draw.capabilities,
    timeouts: {
      queueMs: has(1, 60_000),
      preparationMs: has(2, 20_000),
      executionMs: has(4, 45_000),
      executionIncludesPreparation: (draw.timeouts & 8) !== 0,
      uploadMs: has(16, 20_000),
      terminationGraceMs: 10_000,
    },
    connectivity:
      draw.connectivity === 'continuous' ? { kind: 'continuous' } : { kind: draw.connectivity, extraMs: 15_000 },
  };
}
