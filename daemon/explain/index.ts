/** Explanations: pure functions over persisted rows. */
export { explainJob } from './explain-job.ts';
export { explainRun } from './explain-run.ts';
export type { ExplainRows, Explanation, JobEvidence } from './explanation.ts';
export type { Unmet } from './unmet.ts';
export { unmetCapabilities, unmetText } from './unmet.ts';
