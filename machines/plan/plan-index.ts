/** The graph of a plan, derived once and kept with it: who waits for whom, scopes of fail-fast, names. */
import type { ExecutablePlan, PlannedEdge, PlannedGate, PlannedJob, PlannedNode } from './plan.ts';

export interface Downstream {
  readonly to: number;
  readonly edge: PlannedEdge;
}

export interface PlanIndex {
  readonly plan: ExecutablePlan;
  /** Edges out of each node, ordered by dependent. */
  readonly downstream: readonly (readonly Downstream[])[];
  /** Number of edges into each node (several edges of one pair count each). */
  readonly upstreamEdges: Int32Array;
  readonly downstreamEdges: Int32Array;
  readonly byName: ReadonlyMap<string, number>;
  readonly matrixGroups: ReadonlyMap<string, readonly number[]>;
  job(index: number): PlannedJob;
  gate(index: number): PlannedGate;
  /** Jobs spared by the run's fail-fast, or by that of a matrix group (state-machines: Fail-fast). */
  handlers(group: string | null): ReadonlySet<number>;
}

const cache = new WeakMap<ExecutablePlan, PlanIndex>();

export function indexPlan(plan: ExecutablePlan): PlanIndex {
  const known = cache.get(plan);
  if (known !== undefined) return known;
  const index = buildIndex(plan);
  cache.set(plan, index);
  return index;
}

function buildIndex(plan: ExecutablePlan): PlanIndex {
  const count = plan.nodes.length;
  const downstream: Downstream[][] = Array.from({ length: count }, () => []);
  const upstreamEdges = new Int32Array(count);
  const downstreamEdges = new Int32Array(count);
  const byName = new Map<string, number>();
  const matrixGroups = new Map<string, number[]>();
  for (const node of plan.nodes) {
    byName.set(node.name, node.index);
    upstreamEdges[node.index] = node.needs.length;
    for (const edge of node.needs) {
      downstream[edge.upstream]?.push({ to: node.index, edge });
      downstreamEdges[edge.upstream] = (downstreamEdges[edge.upstream] ?? 0) + 1;
    }
    if (node.kind === 'job' && node.matrix !== null) {
      const group = matrixGroups.get(node.matrix.group);
      if (group === undefined) matrixGroups.set(node.matrix.group, [node.index]);
      else group.push(node.index);
    }
  }
  const handlerSets = new Map<string | null, ReadonlySet<number>>();
  const index: PlanIndex = {
    plan,
    downstream,
    upstreamEdges,
    downstreamEdges,
    byName,
    matrixGroups,
    job: (at) => expectKind(plan.nodes[at], 'job', at),
    gate: (at) => expectKind(plan.nodes[at], 'gate', at),
    handlers(group) {
      const found = handlerSets.get(group) ?? findHandlers(index, group);
      handlerSets.set(group, found);
      return found;
    },
  };
  return index;
}

function expectKind<K extends PlannedNode['kind']>(
  node: PlannedNode | undefined,
  kind: K,
  at: number,
): Extract<PlannedNode, { kind: K }> {
  if (node?.kind !== kind) throw new Error(`plan: node ${at} is no ${kind}`);
  return node as Extract<PlannedNode, { kind: K }>;
}

/** Jobs with an explicit `failure` or `always` edge on a node of the scope, and the jobs that depend on them. */
function findHandlers(index: PlanIndex, group: string | null): ReadonlySet<number> {
  const inScope = group === null ? null : new Set(index.matrixGroups.get(group) ?? []);
  const handlers = new Set<number>();
  const queue: number[] = [];
  const add = (at: number): void => {
    if (handlers.has(at)) return;
    handlers.add(at);
    queue.push(at);
  };
  for (const node of index.plan.nodes) {
    if (node.kind !== 'job') continue;
    const handles = node.needs.some(
      (edge) =>
        edge.required &&
        (edge.condition === 'failure' || edge.condition === 'always') &&
        (inScope === null || inScope.has(edge.upstream)),
    );
    if (handles) add(node.index);
  }
  for (let at = queue.pop(); at !== undefined; at = queue.pop()) {
    for (const { to } of index.downstream[at] ?? []) add(to);
  }
  return handlers;
}
