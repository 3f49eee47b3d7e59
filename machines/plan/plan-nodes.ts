/** The nodes of the plan, in plan order, each with its spec and the digest that attempts are bound to (000 §181). */
import type { Digest, NodeName } from '../model/ids.ts';
import { canonicalJson } from './canonical-json.ts';
import type { GateEntry, JobEntry, PlanDocument } from './document.ts';
import { cacheKeyOf, conditionOf, jobSpecOf, retryOf } from './job-spec.ts';
import type { NameTable } from './name-table.ts';
import type { JobSpec, PlannedEdge, PlannedGate, PlannedJob, PlannedNode } from './plan.ts';
import type { WrittenHeader } from './plan-file.ts';
import { planLimits } from './plan-limits.ts';
import { problem } from './problem.ts';
import type { PlanProblem } from './problem.ts';

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
  context.document.entries.forEach((entry, index) => {
    const range = context.names.entryRanges[index];
    if (entry.kind === 'broken' || range === null || range === undefined) return;
    const names = context.names.nodeNames.slice(range.first, range.first + range.count);
    const needs = context.edges[index] ?? [];
    if (entry.kind === 'gate') {
      for (const name of names) nodes.push(planGate(entry, { index: nodes.length, name, needs }));
      return;
    }
    const common = planJobs(entry, context, index);
    const bytes = new TextEncoder().encode(common.longestSpec).length;
    if (bytes > planLimits.jobSpecBytesMax.value) problems.push(tooLarge(entry, bytes));
    for (const [child, name] of names.entries()) {
      nodes.push({ ...common.job(child), index: nodes.length, name, needs });
    }
  });
  return { nodes, problems };
}

function tooLarge(entry: JobEntry, bytes: number): PlanProblem {
  const message = `the job "${entry.name}" takes ${bytes} bytes, and at most ${planLimits.jobSpecBytesMax.value} fit an offer`;
  return problem('SpecTooLarge', entry.path, message, 'keep long scripts in files, and name the jobs it needs outputs of in inputsFrom');
}
