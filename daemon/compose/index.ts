/** The composition root: the only place that names concrete stores, transports and agents. */
export { localActor } from './local-actor.ts';
export { openStore } from './open-store.ts';
export type { Places, PlacesOptions, PlacesResult, StorePlace } from './places.ts';
export { placesOf } from './places.ts';
