/** Plans as files: reading, refusing, showing what is wrong. */
export { sha256Digest } from './digest.ts';
export type { LocatedNotice, LocatedProblem, LocatedWarning } from './located-notice.ts';
export type { ParsedPlan, ParseOptions } from './parse-plan.ts';
export { parsePlanText } from './parse-plan.ts';
export { planJsonSchema } from './plan-json-schema.ts';
export type { PlanFileResult, ReadOptions } from './read-plan-file.ts';
export { readPlanFile } from './read-plan-file.ts';
export type { RenderOptions } from './render-problems.ts';
export { renderProblems } from './render-problems.ts';
export { sourceSnapshot } from './source-snapshot.ts';
export type { PlanFormat } from './yaml-tree.ts';
