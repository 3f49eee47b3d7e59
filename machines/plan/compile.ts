/**
 * From what a person wrote to what a run executes: read, name, resolve, check, build. Pure: the digest
 * function and the source snapshot come in as values. All problems of a document are reported at once.
 */
import type { Digest } from '../model/ids.ts';
import { ancestorSearch } from './ancestors.ts';
import { findCycles } from './cycles.ts';
import type { PlanDocument } from './document.ts';
import { readDocument } from './document.ts';
import { planEdges } from './edges.ts';
import { gateWarnings } from './gate-warnings.ts';
import { planInputs } from './inputs.ts';
import { nameTable } from './name-table.ts';
import { resolveNeeds } from './needs.ts';
import type { ExecutablePlan, SourceSnapshot } from './plan.ts';
import type { WrittenHeader } from './plan-file.ts';
import { planLimits } from './plan-limits.ts';
import { planNodes } from './plan-nodes.ts';
import type { PlanProblem, PlanWarning } from './problem.ts';
import { problem } from './problem.ts';

export interface CompileOptions {
  /** sha256 of the text, as `sha256:` and 64 hex digits. */
  readonly digest: (canonicalJson: string) => Digest;
  readonly source: SourceSnapshot;
  /** Lower bounds than those of `planLimits`, for hosts with less memory. */
  readonly nodesMax?: number;
  readonly edgesMax?: number;
}

export type CompileResult =
  | { readonly ok: true; readonly plan: ExecutablePlan; readonly warnings: readonly PlanWarning[] }
  | { readonly ok: false; readonly problems: readonly PlanProblem[] };

/** `file` is the parsed document, of any shape: a `PlanFile` when it is right. */
export function compilePlan(file: unknown, options: CompileOptions): CompileResult {
  const nodesMax = options.nodesMax ?? planLimits.nodesMax.value;
  const edgesMax = options.edgesMax ?? planLimits.edgesMax.value;
  const document = readDocument(file, nodesMax);
  const { header, entries } = document;
  const names = nameTable(entries);
  const { needs, problems: needProblems } = resolveNeeds(document, names, edgesMax);
  const ancestors = ancestorSearch(needs, planLimits.ancestorVisitsMax.value);
  const { edges, problems: edgeProblems } = planEdges({ needs, names, ancestors, edgesMax });
  const inputs = planInputs({ document, names, needs, ancestors });
  const problems = [
    ...document.problems,
    ...jobProblems(document),
    ...names.problems,
    ...needProblems,
    ...findCycles(entries, needs),
    ...edgeProblems,
    ...inputs.problems,
  ];
  if (header === null || problems.length > 0) return { ok: false, problems: bounded(problems) };

  const planned = planNodes({ header, document, names, edges, inputs: inputs.inputs, digest: options.digest });
  if (planned.problems.length > 0) return { ok: false, problems: bounded(planned.problems) };
  const warnings = [...document.warnings, ...gateWarnings(document, needs)];
  return { ok: true, plan: { ...runOf(header, options.source), nodes: planned.nodes }, warnings };
}

function jobProblems({ header, entries }: PlanDocument): readonly PlanProblem[] {
  if (header === null || entries.some((entry) => entry.path[0] === 'jobs')) return [];
  return [problem('NoJobs', ['jobs'], 'a plan has at least one job')];
}

function bounded(problems: readonly PlanProblem[]): readonly PlanProblem[] {
  const { value } = planLimits.problemsMax;
  if (problems.length <= value) return problems;
  const rest = problem('TooManyProblems', [], `${problems.length - value} further problems are not shown`);
  return [...problems.slice(0, value), rest];
}

function runOf(header: WrittenHeader, source: SourceSnapshot): Omit<ExecutablePlan, 'nodes'> {
  return {
    schemaVersion: 1,
    project: header.project,
    name: header.name,
    source,
    deadlineMs: header.deadline ?? null,
    failFast: header.failFast,
    labels: header.labels,
    priority: header.priority,
    concurrency: header.concurrency ?? null,
  };
}
