/** Opens or creates the database file. Whatever goes wrong is a `StoreOpenError`, and leaves the file as it was. */
import { closeSync, openSync, readSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import type { StoreClock } from '../contract.ts';
import type { Connection } from './connection.ts';
import { createConnection } from './connection.ts';
import { applicationId, migrate } from './migrate.ts';
import { StoreOpenError } from './open-error.ts';
import { foreign, isWritable, openFailure, readOnly } from './open-failure.ts';
import { text } from './rows/read-columns.ts';
import { resultCode, resultCodes } from './sqlite-errors.ts';

export interface OpenOptions {
  readonly file: string;
  readonly clock: StoreClock;
  /** How long to wait for another process that holds the lock, ms. */
  readonly busyTimeoutMs: number;
  /** Most pages (of 4 KiB) the file may have, or null; beyond it writes fail as on a full disk. */
  readonly pagesMax: number | null;
}

export function openConnection({ file, clock, busyTimeoutMs, pagesMax }: OpenOptions): Connection {
  refuseOtherFormats(file);
  let connection: Connection | undefined;
  try {
    connection = createConnection(
      new DatabaseSync(file, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true }),
    );
    if (pagesMax !== null) connection.database.exec(`PRAGMA max_page_count = ${pagesMax}`);
    connection.database.exec(
      'PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF; PRAGMA cache_size = -32768; PRAGMA journal_size_limit = 67108864',
    );
    // SQLite opens a read-only file as one, and would only say so at the first write.
    if (!isWritable(file)) throw readOnly(file, undefined);
    migrate(connection, file, clock.now());
    useWriteAheadLog(connection, file, busyTimeoutMs);
    return connection;
  } catch (error) {
    connection?.close();
    throw openFailure(file, error);
  }
}

const magic = 'SQLite format 3\0';
const applicationIdOffset = 68;

/** Looks before SQLite does: opening a database of another program would already write next to it. */
function refuseOtherFormats(file: string): void {
  const header = firstBytes(file, 100);
  if (header === null || header.length === 0) return;
  if (header.length < 100 || header.toString('latin1', 0, magic.length) !== magic) throw foreign(file);
  const mark = header.readUInt32BE(applicationIdOffset);
  if (mark !== 0 && mark !== applicationId) throw foreign(file);
}

function firstBytes(file: string, count: number): Buffer | null {
  let descriptor: number;
  try {
    descriptor = openSync(file, 'r');
  } catch {
    // Missing is fine, and every other reason is told better by the attempt to open it for writing.
    return null;
  }
  try {
    const buffer = Buffer.alloc(count);
    return buffer.subarray(0, readSync(descriptor, buffer, 0, count, 0));
  } catch {
    return null;
  } finally {
    closeSync(descriptor);
  }
}

/** The change to WAL needs the file alone for a moment, and SQLite does not always wait for that by itself. */
function useWriteAheadLog(connection: Connection, file: string, busyTimeoutMs: number): void {
  const pauseMs = 10;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  for (let waitedMs = 0; ; waitedMs += pauseMs) {
    try {
      const row = connection.database.prepare('PRAGMA journal_mode = WAL').get();
      if (row !== undefined && text(row, 'journal_mode') === 'wal') return;
      throw new StoreOpenError('CannotOpen', {
        file,
        hint: 'This file system lacks what a write-ahead log needs (shared memory, locks): use a local disk.',
      });
    } catch (error) {
      const code = resultCode(error);
      if ((code !== resultCodes.busy && code !== resultCodes.locked) || waitedMs >= busyTimeoutMs) throw error;
      Atomics.wait(sleeper, 0, 0, pauseMs);
    }
  }
}
