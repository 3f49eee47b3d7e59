/** Driving the pure core: plans, a world around `decide`, the words to drive it, and what must hold. */

export { emptyFacts, foldDifferences, silentChanges, wholeFoldDifferences } from './fold.ts';
export { idOf, idSource } from './ids.ts';
export * from './moves.ts';
export { fakeDigest, planFor, type RunHeader } from './plans.ts';
export * from './rows.ts';
export { deepFreeze, sameValue } from './same-value.ts';
export { deadlinesOf, foldTimers, type TimerFold, timerDifferences } from './timers.ts';
export { createWorld, type World, type WorldOptions } from './world.ts';
