/** Tables as lists of columns, each with the way to its value: statements and bindings cannot drift apart. */
import type { SqlValue } from '../connection.ts';

export type Columns<Row> = Readonly<Record<string, (row: Row) => SqlValue>>;

export interface Table<Row> {
  readonly names: readonly string[];
  readonly values: (row: Row) => SqlValue[];
}

export function tableOf<Row>(columns: Columns<Row>): Table<Row> {
  const names = Object.keys(columns);
  const readers = Object.values(columns);
  return { names, values: (row) => readers.map((read) => read(row)) };
}

export function insertSql(table: string, names: readonly string[]): string {
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
}

/** Updates every column of `changing`, where every column of `key` matches. */
export function updateSql<A, B>(table: string, changing: Table<A>, key: Table<B>): string {
  const set = changing.names.map((name) => `${name} = ?`).join(', ');
  return `UPDATE ${table} SET ${set} WHERE ${key.names.map((name) => `${name} = ?`).join(' AND ')}`;
}

/** Inserts, or updates the row of the same id where `key` (which an update must not move) is the same too. */
export function upsertSql(
  table: string,
  names: readonly string[],
  key: readonly string[],
  assignments: Readonly<Record<string, string>> = {},
): string {
  const set = names
    .filter((name) => name !== 'id' && !key.includes(name))
    .map((name) => `${name} = ${assignments[name] ?? `excluded.${name}`}`);
  const same = key.map((name) => `${table}.${name} = excluded.${name}`);
  return `${insertSql(table, names)} ON CONFLICT (id) DO UPDATE SET ${set.join(', ')} WHERE ${same.join(' AND ')}`;
}

export const flag = (value: boolean | null): SqlValue => (value === null ? null : value ? 1 : 0);
export const json = (value: unknown): SqlValue => (value === null ? null : JSON.stringify(value));
/** Most lists are empty most of the time. */
export const jsonList = (value: readonly unknown[]): SqlValue => (value.length === 0 ? '[]' : JSON.stringify(value));
