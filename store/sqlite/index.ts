export { type StoreOpenCode, StoreOpenError, storeOpenCodes } from './open-error.ts';
export { openSqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';
