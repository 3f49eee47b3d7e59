/** Which nodes a name stands for. A matrix has one name for all its children, and one for each. */
import type { NodeName } from '../model/ids.ts';
import type { PlanEntry } from './document.ts';
import { childName } from './matrix.ts';
import { planLimits } from './plan-limits.ts';
import type { PlanProblem } from './problem.ts';
import { problem } from './problem.ts';

/** A row of consecutive nodes, all of one entry. */
export interface NodeRange {
  readonly entry: number;
  readonly first: number;
  readonly count: number;
}

export interface NameTable {
  /** Null stands for an entry that is broken: known, but without nodes. */
  readonly ranges: ReadonlyMap<string, NodeRange | null>;
  /** The nodes of each entry, by its index; null where it is broken. */
  readonly entryRanges: readonly (NodeRange | null)[];
  /** The name of each node, by its index. */
  readonly nodeNames: readonly NodeName[];
  readonly problems: readonly PlanProblem[];
}

export function nameTable(entries: readonly PlanEntry[]): NameTable {
  const ranges = new Map<string, NodeRange | null>();
  const entryRanges: (NodeRange | null)[] = [];
  const nodeNames: NodeName[] = [];
  const problems: PlanProblem[] = [];

  function add(name: string, range: NodeRange | null, path: PlanEntry['path']): void {
    if (ranges.has(name)) problems.push(problem('DuplicateName', path, `there are two jobs or gates named "${name}"`));
    else ranges.set(name, range);
  }

  entries.forEach((entry, index) => {
    const names = nodeNamesOf(entry);
    const range = entry.kind === 'broken' ? null : { entry: index, first: nodeNames.length, count: names.length };
    entryRanges.push(range);
    add(entry.name, range, entry.path);
    names.forEach((name, child) => {
      const { nodeNameLengthMax } = planLimits;
      if (!isNodeName(name)) {
        problems.push(
          problem(
            'ValueOutOfRange',
            entry.path,
            `the name "${name.slice(0, 60)}…" is longer than ${nodeNameLengthMax.value} characters`,
          ),
        );
        return;
      }
      if (name !== entry.name && range !== null)
        add(name, { entry: index, first: range.first + child, count: 1 }, entry.path);
      nodeNames.push(name);
    });
  });
  return { ranges, entryRanges, nodeNames, problems };
}

function nodeNamesOf(entry: PlanEntry): readonly string[] {
  switch (entry.kind) {
    case 'job':
      return entry.combinations.map((combination) =>
        combination === null ? entry.name : childName(entry.name, combination),
      );
    case 'gate':
      return [entry.name];
    case 'broken':
      return [];
  }
}

function isNodeName(name: string): name is NodeName {
  return name.length > 0 && name.length <= planLimits.nodeNameLengthMax.value;
}
