/**
 * Brings a file to the newest schema, in one transaction that holds the write lock: of several processes opening a new
 * file at once one migrates, the others find it done. A file of somebody else, or of a newer version, is left alone.
 */
import { createHash } from 'node:crypto';
import type { Timestamp } from '../../machines/index.ts';
import type { Connection } from './connection.ts';
import type { Migration } from './migrations/index.ts';
import { migrations } from './migrations/index.ts';
import { StoreOpenError } from './open-error.ts';
import { foreign } from './open-failure.ts';
import { integer, text } from './rows/read-columns.ts';

/** "Fgyd": marks a file as ours for us and for file(1). */
export const applicationId = 0x46677964;

const bookkeeping = `CREATE TABLE schema_migrations (
  version INTEGER NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  checksum TEXT NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT`;

export function migrate(
  connection: Connection,
  file: string,
  now: Timestamp,
  list: readonly Migration[] = migrations,
): void {
  connection.write(() => {
    const applied = appliedVersion(connection, file);
    const newest = list.at(-1)?.version ?? 0;
    if (applied > newest) {
      throw new StoreOpenError('Newer', {
        file,
        hint: `It has schema ${applied}, this version knows ${newest}: update the program.`,
      });
    }
    if (applied > 0) compareChecksums(connection, file, list);
    if (applied === newest) return;
    if (applied === 0) connection.database.exec(bookkeeping);
    for (const migration of list) if (migration.version > applied) apply(connection, migration, now);
    connection.database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${newest}`);
  });
}

function checksumOf({ sql }: Migration): string {
  return `sha256:${createHash('sha256').update(sql).digest('hex')}`;
}

function apply(connection: Connection, migration: Migration, now: Timestamp): void {
  connection.database.exec(migration.sql);
  connection.run(
    'INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (?, ?, ?, ?)',
    migration.version,
    migration.name,
    checksumOf(migration),
    now,
  );
}

/** 0 for a file without anything in it; anything else must carry our mark. */
function appliedVersion(connection: Connection, file: string): number {
  const mark = pragma(connection, 'application_id');
  const version = pragma(connection, 'user_version');
  if (mark === applicationId) return version;
  const holdsSomething =
    mark !== 0 || version !== 0 || connection.get('SELECT 1 FROM sqlite_schema LIMIT 1') !== undefined;
  if (holdsSomething) throw foreign(file);
  return 0;
}

function pragma(connection: Connection, name: string): number {
  const row = connection.get(`PRAGMA ${name}`);
  return row === undefined ? 0 : integer(row, name);
}

function compareChecksums(connection: Connection, file: string, list: readonly Migration[]): void {
  const known = new Map(list.map((migration) => [migration.version, checksumOf(migration)]));
  for (const row of connection.all('SELECT version, name, checksum FROM schema_migrations')) {
    if (known.get(integer(row, 'version')) === text(row, 'checksum')) continue;
    throw new StoreOpenError('ChecksumMismatch', {
      file,
      hint: `Migration ${integer(row, 'version')} (${text(row, 'name')}) differs: use the program that made the file.`,
    });
  }
}
