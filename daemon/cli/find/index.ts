/** Finding what a person named: by id, by the beginning of one, by `@last`, by run and name. */
export type { FoundNode } from './find-node.ts';
export { findGate, findJob } from './find-node.ts';
export { findRun } from './find-run.ts';
