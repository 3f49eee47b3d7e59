/** A matrix written once becomes ordinary jobs, one for each combination (000 §86). */
import { planLimits } from './plan-limits.ts';
import type { DocumentPath, PlanProblem, PlanWarning } from './problem.ts';
import { problem, warning } from './problem.ts';
import type { WrittenMatrix } from './written-matrix.ts';

export type Combination = Readonly<Record<string, string>>;

export interface ExpandedMatrix {
  readonly combinations: readonly Combination[];
  readonly problems: readonly PlanProblem[];
  readonly warnings: readonly PlanWarning[];
}

/** The name of a child, such as `test[os=linux,node=24]`, axes in their order in the document. */
export function childName(group: string, combination: Combination): string {
  const parts = Object.entries(combination).map(([axis, value]) => `${axis}=${value}`);
  return `${group}[${parts.join(',')}]`;
}

/** Before exclusions: what an expansion has to look at. */
export function combinationCount(matrix: WrittenMatrix): number {
  return Object.values(matrix.axes).reduce((product, values) => product * values.length, 1) + matrix.include.length;
}

export function expandMatrix(matrix: WrittenMatrix, path: DocumentPath): ExpandedMatrix {
  const problems = [...axisProblems(matrix, path)];
  const count = combinationCount(matrix);
  if (count > planLimits.matrixChildrenMax.value) {
    problems.push(
      problem('TooMany', path, `expected at most ${planLimits.matrixChildrenMax.value} combinations, not ${count}`),
    );
  }
  if (problems.length > 0) return { combinations: [], problems, warnings: [] };

  const product = combine(Object.entries(matrix.axes));
  const kept = product.filter((combination) => !matrix.exclude.some((excluded) => matches(combination, excluded)));
  const axes = Object.keys(matrix.axes);
  const included = matrix.include.map((extra) => Object.fromEntries(axes.map((axis) => [axis, extra[axis] ?? ''])));
  const warnings = matrix.exclude.flatMap((excluded, index) =>
    product.some((combination) => matches(combination, excluded))
      ? []
      : [warning('ExcludeMatchesNothing', [...path, 'exclude', index], 'this exclusion removes no combination')],
  );
  const combinations = [...kept, ...included];
  if (combinations.length === 0) problems.push(problem('EmptyMatrix', path, 'the matrix has no combination left'));
  return { combinations, problems, warnings };
}

function axisProblems(matrix: WrittenMatrix, path: DocumentPath): PlanProblem[] {
  const axes = Object.keys(matrix.axes);
  if (axes.length === 0) return [problem('EmptyMatrix', [...path, 'axes'], 'the matrix has no axis')];
  const problems: PlanProblem[] = [];
  const seen = new Map<string, string>();
  for (const axis of axes) {
    const other = seen.get(axis.toUpperCase());
    if (other !== undefined) {
      problems.push(
        problem('DuplicateName', [...path, 'axes', axis], `"${axis}" and "${other}" would set the same variable`),
      );
    }
    seen.set(axis.toUpperCase(), axis);
  }
  matrix.include.forEach((extra, index) => {
    for (const axis of axes) {
      if (Object.hasOwn(extra, axis)) continue;
      problems.push(
        problem('MissingKey', [...path, 'include', index, axis], `the combination has no value for "${axis}"`),
      );
    }
    problems.push(...unknownAxes(extra, axes, [...path, 'include', index]));
  });
  matrix.exclude.forEach((excluded, index) => {
    problems.push(...unknownAxes(excluded, axes, [...path, 'exclude', index]));
  });
  return problems;
}

function unknownAxes(combination: Combination, axes: readonly string[], path: DocumentPath): PlanProblem[] {
  return Object.keys(combination)
    .filter((axis) => !axes.includes(axis))
    .map((axis) =>
      problem('UnknownKey', [...path, axis], `the matrix has no axis "${axis}"`, `its axes: ${axes.join(', ')}`),
    );
}

/** The first axis varies slowest, as if the axes were nested loops. */
function combine(axes: readonly (readonly [string, readonly string[]])[]): Combination[] {
  return axes.reduce<Combination[]>(
    (combinations, [axis, values]) =>
      combinations.flatMap((combination) => values.map((value) => ({ ...combination, [axis]: value }))),
    [{}],
  );
}

function matches(combination: Combination, pattern: Combination): boolean {
  return Object.entries(pattern).every(([axis, value]) => combination[axis] === value);
}
