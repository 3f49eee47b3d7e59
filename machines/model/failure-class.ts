/** Why an attempt failed (000 §54), and which budget that class is charged to (state-machines: Budgets). */
export const workloadFailureClasses = ['CompileFailure', 'TestFailure', 'UserCommand', 'Timeout'] as const;
export const infrastructureFailureClasses = [
  'Infrastructure',
  'RunnerLost',
  'SandboxSetup',
  'ToolchainUnavailable',
  'InputFetch',
  'OutputUpload',
] as const;
/** Never retried (000 §201, §202). */
export const finalFailureClasses = ['Cancelled', 'Policy', 'Internal'] as const;
export const failureClasses = [
  ...workloadFailureClasses,
  ...infrastructureFailureClasses,
  ...finalFailureClasses,
] as const;

export type WorkloadFailureClass = (typeof workloadFailureClasses)[number];
export type InfrastructureFailureClass = (typeof infrastructureFailureClasses)[number];
export type FailureClass = (typeof failureClasses)[number];
export type FailureBudget = 'workload' | 'infrastructure' | 'none';

const workload: ReadonlySet<string> = new Set(workloadFailureClasses);
const infrastructure: ReadonlySet<string> = new Set(infrastructureFailureClasses);

/** The budget a failure of this class is charged to. */
export function budgetOf(failureClass: FailureClass): FailureBudget {
  if (workload.has(failureClass)) return 'workload';
  return infrastructure.has(failureClass) ? 'infrastructure' : 'none';
}
