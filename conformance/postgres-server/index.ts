export { createTestDatabases, type TestDatabases, withDatabase } from './databases.ts';
export { type PostgresPooler, poolerVersion, startPostgresPooler } from './pooler.ts';
export { type Cut, createPostgresProxy, type PostgresProxy } from './proxy.ts';
export { queryOnce } from './query-once.ts';
export { createPostgresServer, type PostgresServer, type ServerOptions, startPostgresServer } from './server.ts';
export { type PostgresSubject, postgresSubjects } from './subjects.ts';
