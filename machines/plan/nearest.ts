/** Finding the name somebody probably meant. */

/** Candidates one report may be compared with: a plan full of unknown names must stay linear. */
const comparisonsMax = 50_000;

export type Nearest = (name: string, candidates: Iterable<string>) => string | null;

/** A finder with a budget of its own; once that is spent it answers null. */
export function nearestFinder(): Nearest {
  let comparisonsLeft = comparisonsMax;
  return (name, candidates) => {
    // A name that shares no letter with another is no slip of it.
    const distanceMax = Math.min(4, Math.floor(name.length / 3) + 1, name.length - 1);
    let best: string | null = null;
    let bestDistance = distanceMax + 1;
    for (const candidate of candidates) {
      if (comparisonsLeft <= 0) return best;
      comparisonsLeft -= 1;
      const distance = editDistance(name.toLowerCase(), candidate.toLowerCase(), bestDistance);
      if (distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    return best;
  };
}

/** Levenshtein distance, or `enough` when it is at least that. */
function editDistance(from: string, to: string, enough: number): number {
  if (Math.abs(from.length - to.length) >= enough) return enough;
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    let lowest = row;
    for (let column = 1; column <= to.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const distance = Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1);
      current.push(distance);
      lowest = Math.min(lowest, distance);
    }
    if (lowest >= enough) return enough;
    previous = current;
  }
  return Math.min(previous[to.length] ?? enough, enough);
}

export function didYouMean(nearest: string | null): string | null {
  return nearest === null ? null : `did you mean "${nearest}"?`;
}
