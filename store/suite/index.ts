export type { Change, RunRows } from './change.ts';
export { id } from './ids.ts';
export { makePlan, type NodeOptions, type RunOptions } from './rows.ts';
export {
  acceptStep,
  changeStep,
  completeStep,
  createStep,
  currentAttempt,
  currentLease,
  deadline,
  expireStep,
  gateAt,
  grantStep,
  jobAt,
  phaseStep,
  rejectStep,
  type Step,
} from './run-script.ts';
export { storeSuite } from './store-suite.ts';
export type { MakeStore, SuiteEnvironment, SuiteExpectation, SuiteRunner } from './subject.ts';
