/** The composition root: the only place that names concrete stores, transports and agents. */
export type { Host, HostOptions } from './host.ts';
export { liveSessions } from './live-sessions.ts';
export { localActor } from './local-actor.ts';
export { openStore } from './open-store.ts';
export type { Places, PlacesOptions, PlacesResult, StorePlace } from './places.ts';
export { placesOf } from './places.ts';
export type { RunSources } from './run-sources.ts';
export { createRunSources } from './run-sources.ts';

/** Loaded when a command carries runs: the runtime, the agent and all they need. */
export const loadHost = async (): Promise<typeof import('./host.ts')> => await import('./host.ts');
export const loadOperator = async (): Promise<typeof import('./operator.ts')> => await import('./operator.ts');
