/** The suite every runtime and store must pass together. */
export type { RuntimeSuiteOptions } from './kit.ts';
export { runtimeSuite } from './runtime-suite.ts';
