/** The suite every runtime and store must pass together, in a calm and in a storm of faults. */
export type { RuntimeSuiteOptions } from './kit.ts';
export { runtimeSuite } from './runtime-suite.ts';
export { stormSuite } from './storm.ts';
