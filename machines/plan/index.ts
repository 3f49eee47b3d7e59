/** Plans: what a person writes, what a run executes, and the way from one to the other. */

export type { BuiltNode, GateFile, JobFile, RunFile } from './builder.ts';
export { compileNodes, gate, job, planOf } from './builder.ts';
export { canonicalJson } from './canonical-json.ts';
export type { CompileOptions, CompileResult } from './compile.ts';
export { compilePlan } from './compile.ts';
export { formatDuration, parseDuration } from './duration.ts';
export type {
  BackoffPolicy,
  CompletionAfterIntent,
  ConnectivityPolicy,
  EdgeCondition,
  ExecutablePlan,
  FailureImpact,
  JobSpec,
  JobTimeouts,
  PlannedCondition,
  PlannedEdge,
  PlannedGate,
  PlannedJob,
  PlannedNode,
  RetryPolicy,
  SourceSnapshot,
  StepCommand,
  StepSpec,
} from './plan.ts';
export type { PlanFile } from './plan-file.ts';
export { planFileSchema } from './plan-file.ts';
export type { PlanLimit } from './plan-limits.ts';
export { planLimits } from './plan-limits.ts';
export type {
  DocumentPath,
  PlanNotice,
  PlanProblem,
  PlanProblemCode,
  PlanWarning,
  PlanWarningCode,
} from './problem.ts';
export { planProblemCodes, planWarningCodes, problem } from './problem.ts';
