export type { Collected, CollectOptions, ListedObject } from './collect-garbage.ts';
export { collectGarbage, listObjects } from './collect-garbage.ts';
export type { OutputStore, OutputVerifier, ReadObject, StoredObject, VerifiedObjects } from './output-store.ts';
export { createOutputStore } from './output-store.ts';
