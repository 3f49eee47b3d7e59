/** Searches histories for one that breaks something, and shrinks it. */
import fc from 'fast-check';
import type { Charts } from '../../machines/index.ts';
import { drawArbitrary } from './draws.ts';
import { historyViolations } from './history.ts';
import { planArbitrary } from './plan-arbitrary.ts';
import type { Tally } from './tally.ts';
import { createTally } from './tally.ts';

export interface SearchOptions {
  readonly runs: number;
  readonly seed: number;
  /** fast-check's path to a failure found before. */
  readonly path?: string;
  readonly charts?: Charts;
}

export interface SearchResult {
  readonly runs: number;
  readonly seed: number;
  readonly tally: Tally;
  /** Null when nothing was found. */
  readonly failure: { readonly path: string; readonly violations: readonly string[]; readonly history: string } | null;
}

const stepsMax = 60;
/** One history in so many is decided twice, on frozen rows. */
const strictEvery = 8;

export function searchHistories({ runs, seed, path, charts }: SearchOptions): SearchResult {
  const tally = createTally();
  const chosen = charts === undefined ? {} : { charts };
  let found: readonly string[] = [];
  let count = 0;
  const property = fc.property(
    planArbitrary,
    fc.array(drawArbitrary, { minLength: 5, maxLength: stepsMax, size: 'max' }),
    (plan, draws) => {
      count += 1;
      const strict = found.length > 0 || path !== undefined || count % strictEvery === 0;
      const violations = violationsOf(() => historyViolations(plan, draws, { ...chosen, strict, tally }));
      if (violations.length > 0) found = violations;
      return violations.length === 0;
    },
  );
  const details = fc.check(property, { numRuns: runs, seed, ...(path === undefined ? {} : { path }) });
  const failure = details.failed
    ? { path: details.counterexamplePath ?? '', violations: found, history: fc.stringify(details.counterexample) }
    : null;
  return { runs: details.numRuns, seed, tally, failure };
}

/** A core that throws has broken an invariant of its own: a violation like the others. */
function violationsOf(run: () => readonly string[]): readonly string[] {
  try {
    return run();
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}
