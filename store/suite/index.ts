export type { Change, RunRows } from './change.ts';
export { id } from './ids.ts';
export { acceptStep, completeStep, expireStep, grantStep, phaseStep, rejectStep } from './job-steps.ts';
export { makePlan, type NodeOptions, type RunOptions } from './rows.ts';
export {
  changeStep,
  createStep,
  currentAttempt,
  currentLease,
  deadline,
  gateAt,
  jobAt,
  type Step,
} from './run-script.ts';
export { storeSuite } from './store-suite.ts';
export type { MakeStore, SuiteEnvironment, SuiteExpectation, SuiteRunner } from './subject.ts';
