/** The actor runtime. `createRuntime` is the way in; everything else are its parts and their words. */
export * from './api.ts';
export { isAllowed, systemActor } from './authorise.ts';
export { offerOf } from './gateway/offer.ts';
export type { Consumer } from './loops/publisher.ts';
export type { Ids, Ports, RuntimeFailpoint, WakeClock } from './ports.ts';
export { createRuntime, type RuntimeOptions } from './runtime.ts';
