export type { Acknowledgement } from './acknowledgements.ts';
export { fallsShort, type KillLoopOptions, type KillLoopTally, runKillLoop, standardWorker } from './kill-loop.ts';
export { type Verdict, verifyStore } from './verify.ts';
