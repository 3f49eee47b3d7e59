export * from './contract.ts';
export { createMemoryStore, type MemoryStoreOptions } from './memory/index.ts';
export {
  openSqliteStore,
  type SqliteStoreOptions,
  type StoreOpenCode,
  StoreOpenError,
  storeOpenCodes,
} from './sqlite/index.ts';
