/** Written needs, resolved: each names nodes that exist, other than its own. */
import type { PlanDocument } from './document.ts';
import type { NameTable, NodeRange } from './name-table.ts';
import { didYouMean } from './nearest.ts';
import type { DocumentPath, PlanProblem } from './problem.ts';
import { problem } from './problem.ts';
import type { WrittenCondition, WrittenNeed } from './written-need.ts';

export interface ResolvedNeed extends NodeRange {
  readonly condition: WrittenCondition;
  readonly required: boolean;
  readonly path: DocumentPath;
}

/** The needs of each entry, by its index. All children of a matrix have the same ones. */
export type EntryNeeds = readonly (readonly ResolvedNeed[])[];

export function resolveNeeds(
  document: PlanDocument,
  names: NameTable,
  edgesMax: number,
): { needs: EntryNeeds; problems: PlanProblem[] } {
  const problems: PlanProblem[] = [];
  let edgesLeft = edgesMax;
  const needs = document.entries.map((entry, index) => {
    const written = entry.kind === 'broken' ? entry.needs : entry.written.needs;
    const resolved: ResolvedNeed[] = [];
    const seen = new Set<number>();
    written.forEach((need, position) => {
      const path = [...entry.path, 'needs', position];
      const found = lookUp(need, path, { document, names });
      if (!found.ok) {
        problems.push(found.problem);
        return;
      }
      if (found.range === null) return;
      const { range } = found;
      if (range.entry === index) {
        problems.push(problem('SelfNeed', path, `"${entry.name}" needs itself`));
        return;
      }
      edgesLeft -= range.count * (names.entryRanges[index]?.count ?? 1);
      // Counted before they are made: a list of names in a small file could fill the memory.
      if (edgesLeft < 0) return;
      if (markSeen(range, seen)) problems.push(problem('DuplicateNeed', path, `"${need.name}" is needed already`));
      resolved.push({ ...range, condition: need.condition, required: need.required, path });
    });
    return resolved;
  });
  if (edgesLeft < 0) problems.push(problem('GraphTooLarge', [], `a plan has at most ${edgesMax} edges`));
  return { needs, problems };
}

type LookUp =
  | { readonly ok: true; readonly range: NodeRange | null }
  | { readonly ok: false; readonly problem: PlanProblem };

interface Names {
  readonly document: PlanDocument;
  readonly names: NameTable;
}

/** A range of null: the name is known, but what it stands for is broken. */
export function lookUp(
  wanted: Pick<WrittenNeed, 'name' | 'kind'>,
  path: DocumentPath,
  { document, names }: Names,
): LookUp {
  const { name, kind } = wanted;
  const range = names.ranges.get(name) ?? null;
  if (range === null) {
    const group = name.slice(0, Math.max(0, name.indexOf('[')));
    const isBroken = names.ranges.has(name) || names.ranges.get(group) === null;
    if (isBroken) return { ok: true, range: null };
    const hint = didYouMean(document.nearest(name, names.ranges.keys()));
    return { ok: false, problem: problem('UnknownName', path, `there is no job or gate named "${name}"`, hint) };
  }
  const actual = document.entries[range.entry]?.kind;
  if (kind === 'node' || actual === kind) return { ok: true, range };
  return { ok: false, problem: problem('WrongKind', path, `"${name}" is a ${actual}, not a ${kind}`) };
}

/** True when one of the nodes was there already. */
function markSeen(range: NodeRange, seen: Set<number>): boolean {
  const before = seen.size;
  for (let node = range.first; node < range.first + range.count; node += 1) seen.add(node);
  return seen.size !== before + range.count;
}
