/** What a server must be for a promise made on it to hold: new enough, and keeping what it confirms. */
import type pg from 'pg';
import { PostgresOpenError } from './open-error.ts';

const oldestSupported = 140_000;

interface Settings {
  readonly version: number;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_commit: string;
  readonly isolation: string;
  readonly encoding: string;
  /** Neon keeps its log elsewhere before it confirms, and so switches off what guards a local disk. */
  readonly neon: boolean;
}

const settings = `SELECT current_setting('server_version_num')::int AS version, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes, current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('default_transaction_isolation') AS isolation, current_setting('server_encoding') AS encoding,
  current_setting('neon.timeline_id', true) IS NOT NULL AS neon`;

export async function requireServer(client: pg.Client, url: string): Promise<void> {
  const found = (await client.query<Settings>(settings)).rows[0];
  if (found === undefined || found.version < oldestSupported) {
    throw new PostgresOpenError('TooOld', { url, hint: 'Use PostgreSQL 14 or later.' });
  }
  const wrong = [
    ...(found.neon || found.fsync === 'on' ? [] : ['fsync = on']),
    ...(found.neon || found.full_page_writes === 'on' ? [] : ['full_page_writes = on']),
    ...(found.synchronous_commit === 'off' ? ['synchronous_commit = on'] : []),
    ...(found.isolation === 'read committed' ? [] : [`default_transaction_isolation = 'read committed'`]),
    ...(found.encoding === 'UTF8' ? [] : ['a database with encoding UTF8']),
  ];
  if (wrong.length > 0) {
    throw new PostgresOpenError('Unsafe', { url, hint: `It needs ${wrong.join(', ')} for this database and user.` });
  }
}
