/**
 * One connection: constant statements prepared once, transactions as functions. SQLite and its driver are synchronous,
 * so nothing else of this process runs inside a transaction; other processes are kept out by the write lock.
 */
import type { DatabaseSync, SQLInputValue, SQLOutputValue, StatementSync } from 'node:sqlite';
import { asUnavailable } from './sqlite-errors.ts';

export type SqlRow = Record<string, SQLOutputValue>;
export type SqlValue = SQLInputValue;

export interface Connection {
  run(sql: string, ...values: readonly SqlValue[]): number;
  get(sql: string, ...values: readonly SqlValue[]): SqlRow | undefined;
  all(sql: string, ...values: readonly SqlValue[]): readonly SqlRow[];
  /** Rows as they come, each mapped at once: of 100,000 rows only the results are ever held. */
  map<T>(from: (row: SqlRow) => T, sql: string, ...values: readonly SqlValue[]): T[];
  /** A transaction that holds the write lock from its start: what it reads stays true until it commits. */
  write<T>(body: () => T): T;
  /**
   * As `write`, but not waiting for the disk: a loss of power (never the death of a process) may take back the newest
   * of these, with nothing after them. For claims and marks, which are made again when they are missing.
   */
  writeLightly<T>(body: () => T): T;
  /** One snapshot over several reads. */
  read<T>(body: () => T): T;
  readonly database: DatabaseSync;
  close(): void;
}

export function createConnection(database: DatabaseSync): Connection {
  const statements = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    const known = statements.get(sql);
    if (known !== undefined) return known;
    const statement = database.prepare(sql);
    statements.set(sql, statement);
    return statement;
  };
  const transaction = <T>(begin: string, body: () => T): T => {
    try {
      database.exec(begin);
      const result = body();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      rollBack(database);
      throw asUnavailable(error);
    }
  };
  return {
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    get: (sql, ...values) => prepared(sql).get(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
    map: (from, sql, ...values) => Array.from(prepared(sql).iterate(...values), (row) => from(row)),
    write: (body) => transaction('BEGIN IMMEDIATE', body),
    writeLightly: (body) => {
      // In a write-ahead log the next full commit also syncs what light ones left before it.
      database.exec('PRAGMA synchronous = NORMAL');
      try {
        return transaction('BEGIN IMMEDIATE', body);
      } finally {
        if (database.isOpen) database.exec('PRAGMA synchronous = FULL');
      }
    },
    read: (body) => transaction('BEGIN', body),
    database,
    close: () => {
      if (database.isOpen) database.close();
    },
  };
}

/** Some errors (a full disk, a failing one) have already rolled the transaction back. */
export function rollBack(database: DatabaseSync): void {
  if (!database.isOpen || !database.isTransaction) return;
  try {
    database.exec('ROLLBACK');
  } catch {
    // The transaction is gone either way; what made it fail is the error to report.
  }
}
