export { type AppliedMigration, migratePostgres, type PostgresStatus, postgresStatus } from './migrate.ts';
export { type PostgresOpenCode, PostgresOpenError, postgresOpenCodes } from './open-error.ts';
export { openPostgresStore, type PostgresStoreOptions } from './postgres-store.ts';
export { dumpPostgresSchema } from './schema-dump.ts';
