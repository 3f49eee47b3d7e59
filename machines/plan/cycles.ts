/**
 * Circles in the graph. All children of a matrix have the same needs, so a circle of nodes exists
 * exactly where there is one of entries, and the search walks the smaller graph.
 */
import type { PlanEntry } from './document.ts';
import type { EntryNeeds, ResolvedNeed } from './needs.ts';
import type { PlanProblem } from './problem.ts';
import { problem } from './problem.ts';

/** Names shown of one circle; the middle of a longer one is left out. */
const namesShownMax = 20;

interface Visit {
  readonly entry: number;
  nextNeed: number;
}

/** One problem for each circle that shares no entry with one already found. Depth-first, without recursion. */
export function findCycles(entries: readonly PlanEntry[], needs: EntryNeeds): PlanProblem[] {
  const problems: PlanProblem[] = [];
  const done = new Set<number>();
  const reported = new Set<number>();
  for (const root of entries.keys()) {
    if (done.has(root)) continue;
    const trail: Visit[] = [{ entry: root, nextNeed: 0 }];
    const onTrail = new Map<number, number>([[root, 0]]);
    for (let visit = trail.at(-1); visit !== undefined; visit = trail.at(-1)) {
      const need = needs[visit.entry]?.[visit.nextNeed];
      visit.nextNeed += 1;
      if (need === undefined) {
        done.add(visit.entry);
        onTrail.delete(visit.entry);
        trail.pop();
        continue;
      }
      const start = onTrail.get(need.entry);
      if (start !== undefined && !reported.has(need.entry)) {
        const circle = trail.slice(start).map(({ entry }) => entry);
        for (const entry of circle) reported.add(entry);
        problems.push(cycleProblem(circle, entries, need));
      } else if (start === undefined && !done.has(need.entry)) {
        onTrail.set(need.entry, trail.length);
        trail.push({ entry: need.entry, nextNeed: 0 });
      }
    }
  }
  return problems;
}

function cycleProblem(circle: readonly number[], entries: readonly PlanEntry[], closing: ResolvedNeed): PlanProblem {
  const names = [...circle, ...circle.slice(0, 1)].map((entry) => entries[entry]?.name ?? '');
  const half = namesShownMax / 2;
  const shown =
    names.length <= namesShownMax
      ? names
      : [...names.slice(0, half), `… ${names.length - namesShownMax} more …`, ...names.slice(-half)];
  return problem('Cycle', closing.path, `a circle: ${shown.join(' needs ')}`, 'remove one of these needs');
}
