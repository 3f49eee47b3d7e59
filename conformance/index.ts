/**
 * Suites, checkers and tools that judge an implementation, yours or ours. Nothing here needs a particular test runner.
 *
 *   testkit        time, chance, a scripted runner, a stage of several processes, checkers of histories
 *   faulty-store   a bad connection around any store
 *   storeSuite     what every store must keep
 *   runtimeSuite   what the runtime must keep over a store; stormSuite the same under faults
 *   scenarios      incidents as text, with the whole trace that must come of them
 */

export { type MakeStore, type SuiteRunner, storeSuite } from '../store/suite/index.ts';
export * from './faulty-store/index.ts';
export * from './runtime-suite/index.ts';
export * from './scenarios/index.ts';
export * from './testkit/index.ts';
