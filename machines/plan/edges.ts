/** Resolved needs become edges between nodes; `anyFailure` becomes `failure` on all that is above. */
import type { AncestorSearch } from './ancestors.ts';
import type { NameTable, NodeRange } from './name-table.ts';
import type { EntryNeeds, ResolvedNeed } from './needs.ts';
import type { EdgeCondition, PlannedEdge } from './plan.ts';
import type { PlanProblem } from './problem.ts';
import { problem } from './problem.ts';

export interface EdgeContext {
  readonly needs: EntryNeeds;
  readonly names: NameTable;
  readonly ancestors: AncestorSearch;
  readonly edgesMax: number;
}

/** The edges of each entry, by its index; the children of a matrix share one list. */
export function planEdges(context: EdgeContext): {
  edges: readonly (readonly PlannedEdge[])[];
  problems: PlanProblem[];
} {
  let edgesLeft = context.edgesMax;
  let isTooLarge = false;
  const edges = context.needs.map((needs, entry) => {
    const children = context.names.entryRanges[entry]?.count ?? 0;
    if (isTooLarge || children === 0) return [];
    const own: PlannedEdge[] = [];
    const seen = new Set<string>();
    for (const need of needs) {
      const ranges = rangesOf(need, context.ancestors);
      edgesLeft -= ranges === null ? Infinity : ranges.reduce((sum, { range }) => sum + range.count * children, 0);
      isTooLarge ||= edgesLeft < 0;
      if (isTooLarge || ranges === null) break;
      for (const { range, condition } of ranges) {
        addEdges(range, { condition, required: need.required }, { edges: own, seen });
      }
    }
    return own;
  });
  const problems = isTooLarge ? [problem('GraphTooLarge', [], `a plan has at most ${context.edgesMax} edges`)] : [];
  return { edges, problems };
}

interface ConditionedRange {
  readonly range: NodeRange;
  readonly condition: EdgeCondition;
}

function rangesOf(need: ResolvedNeed, ancestors: AncestorSearch): readonly ConditionedRange[] | null {
  if (need.condition !== 'anyFailure') return [{ range: need, condition: need.condition }];
  const above = ancestors.above(need.entry);
  return above === null ? null : [need, ...above].map((range) => ({ range, condition: 'failure' }));
}

interface EdgeList {
  readonly edges: PlannedEdge[];
  readonly seen: Set<string>;
}

/** The same edge may follow from several needs; it stands in the plan once. */
function addEdges(range: NodeRange, edge: Omit<PlannedEdge, 'upstream'>, { edges, seen }: EdgeList): void {
  for (let upstream = range.first; upstream < range.first + range.count; upstream += 1) {
    const key = `${upstream} ${edge.condition}`;
    if (seen.has(key)) continue;
    seen.add(key);
    edges.push({ upstream, ...edge });
  }
}
