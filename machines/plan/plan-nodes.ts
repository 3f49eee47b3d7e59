/** The nodes of the plan, in plan order, each with its spec and the digest that attempts are bound to (000 §181). */
import type { Digest, NodeName } from '../model/ids.ts';
import { canonicalJson } from './canonical-json.ts';
import type { GateEntry, JobEntry, PlanDocument } from './document.ts';
import { cacheKeyOf, conditionOf, jobSpecOf, retryOf } from './job-spec.ts';
import type { NameTable } from './name-table.ts';
import type { JobSpec, PlannedEdge, PlannedGate, PlannedJob, PlannedNode } from './plan.ts';
import type { WrittenHeader } from './plan-file.ts';
import { planLimits } from './plan-limits.ts';
import type { PlanProblem } from './problem.ts';
import { problem } from './problem.ts';

export interface NodesContext {
  readonly header: WrittenHeader;
  readonly document: PlanDocument;
  readonly names: NameTable;
  /** By the index of the entry, as are `inputs`. */
  readonly edges: readonly (readonly PlannedEdge[])[];
  readonly inputs: readonly (readonly NodeName[])[];
  readonly digest: (canonicalJson: string) => Digest;
}

export function planNodes(context: NodesContext): { nodes: PlannedNode[]; problems: PlanProblem[] } {
  const nodes: PlannedNode[] = [];
  const problems: PlanProblem[] = [];
  context.document.entries.forEach((entry, entryIndex) => {
    const range = context.names.entryRanges[entryIndex];
    if (entry.kind === 'broken' || range === null || range === undefined) return;
    const names = context.names.nodeNames.slice(range.first, range.first + range.count);
    const needs = context.edges[entryIndex] ?? [];
    const places = names.map((name, child): NodePlace => ({ name, index: range.first + child, needs }));
    if (entry.kind === 'gate') {
      for (const place of places) nodes.push(planGate(entry, place));
      return;
    }
    const jobs = planJobs(entry, places, { ...context, inputsFrom: context.inputs[entryIndex] ?? [] });
    if (jobs.specBytes > planLimits.jobSpecBytesMax.value) problems.push(tooLarge(entry, jobs.specBytes));
    for (const job of jobs.jobs) nodes.push(job);
  });
  return { nodes, problems };
}

type NodePlace = Pick<PlannedNode, 'name' | 'index' | 'needs'>;

function planGate({ written }: GateEntry, place: NodePlace): PlannedGate {
  return {
    kind: 'gate',
    ...place,
    approvers: [...new Set(written.approvers)],
    expiryMs: written.expiry ?? null,
    onExpiry: written.onExpiry,
    description: written.description ?? null,
  };
}

interface JobContext extends Pick<NodesContext, 'header' | 'digest'> {
  readonly inputsFrom: readonly NodeName[];
}

/** `specBytes` is the size of the largest spec among the children, or 0 where all are small. */
function planJobs(
  entry: JobEntry,
  places: readonly NodePlace[],
  context: JobContext,
): { jobs: PlannedJob[]; specBytes: number } {
  const { written } = entry;
  const common = jobSpecOf(entry, context.header, context.inputsFrom);
  const policies = {
    condition: conditionOf(written.condition),
    required: written.required,
    failureImpact: written.failureImpact,
    retry: retryOf(written, context.header),
    completionAfterIntent:
      written.completionAfterIntent ?? context.header.defaults?.completionAfterIntent ?? ('honor_intent' as const),
    matrix: written.matrix === undefined ? null : { group: entry.name, failFast: written.matrix.failFast },
  };
  const encoder = new TextEncoder();
  let specBytes = 0;
  const jobs = places.map((place, child): PlannedJob => {
    const combination = entry.combinations[child] ?? null;
    const spec: JobSpec = { ...common, matrix: combination ?? {} };
    const json = canonicalJson(spec);
    // A UTF-16 unit takes at most three bytes, so most specs need not be encoded to be small enough.
    if (json.length * 3 > planLimits.jobSpecBytesMax.value)
      specBytes = Math.max(specBytes, encoder.encode(json).length);
    const cacheKey = cacheKeyOf(written, combination);
    return { kind: 'job', ...place, spec, specDigest: context.digest(json), ...policies, cacheKey };
  });
  return { jobs, specBytes };
}

function tooLarge(entry: JobEntry, bytes: number): PlanProblem {
  const message = `the job "${entry.name}" takes ${bytes} bytes, and at most ${planLimits.jobSpecBytesMax.value} fit an offer`;
  const hint = 'keep long scripts in files, and name the jobs whose outputs it takes in inputsFrom';
  return problem('SpecTooLarge', entry.path, message, hint);
}
