/**
 * The edge where columns become typed values again: the only place of this store that asserts types. Constraints of
 * the schema (closed lists, NOT NULL) and the statements that write are what make these assertions true.
 */
import type { SqlRow } from '../connection.ts';

export const text = <T extends string = string>(row: SqlRow, column: string): T => row[column] as T;
export const textOrNull = <T extends string = string>(row: SqlRow, column: string): T | null => row[column] as T | null;
export const integer = (row: SqlRow, column: string): number => row[column] as number;
export const integerOrNull = (row: SqlRow, column: string): number | null => row[column] as number | null;
export const boolean = (row: SqlRow, column: string): boolean => row[column] === 1;
export const booleanOrNull = (row: SqlRow, column: string): boolean | null =>
  row[column] === null ? null : row[column] === 1;
export const parsed = <T>(row: SqlRow, column: string): T => JSON.parse(row[column] as string) as T;
export const parsedOrNull = <T>(row: SqlRow, column: string): T | null =>
  row[column] === null ? null : (JSON.parse(row[column] as string) as T);
const noItems: readonly never[] = [];
export const list = <T>(row: SqlRow, column: string): readonly T[] =>
  row[column] === '[]' ? noItems : parsed(row, column);
