export * from './contract.ts';
export { createMemoryStore, type MemoryStoreOptions } from './memory/index.ts';
