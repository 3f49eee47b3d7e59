/** Everything above an entry, walked over entries and within a budget shared by one compilation. */
import type { NodeRange } from './name-table.ts';
import type { EntryNeeds } from './needs.ts';

export interface AncestorSearch {
  /** The nodes above an entry, each range once; null when the budget is spent. */
  above(entry: number): readonly NodeRange[] | null;
}

/** The graph must be free of circles only to be meaningful: the search itself ends on any graph. */
export function ancestorSearch(needs: EntryNeeds, visitsMax: number): AncestorSearch {
  const known = new Map<number, readonly NodeRange[]>();
  let visitsLeft = visitsMax;

  function search(entry: number): readonly NodeRange[] | null {
    const found = new Map<string, NodeRange>();
    const visited = new Set([entry]);
    const waiting = [entry];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      for (const need of needs[next] ?? []) {
        visitsLeft -= 1;
        if (visitsLeft < 0) return null;
        found.set(`${need.first}+${need.count}`, need);
        if (visited.has(need.entry)) continue;
        visited.add(need.entry);
        waiting.push(need.entry);
      }
    }
    return [...found.values()].sort((a, b) => a.first - b.first || a.count - b.count);
  }

  return {
    above(entry) {
      const before = known.get(entry);
      if (before !== undefined) return before;
      const ranges = search(entry);
      if (ranges !== null) known.set(entry, ranges);
      return ranges;
    },
  };
}
