/** What the driver throws, told apart by SQLite's result code. */
import { StoreUnavailable } from '../contract.ts';

/** Primary result codes of SQLite that this store treats differently. */
export const resultCodes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notADatabase: 26,
} as const;

/** The primary result code, or null when the error is not SQLite's. */
export function resultCode(error: unknown): number | null {
  if (!(error instanceof Error) || !('errcode' in error)) return null;
  return typeof error.errcode === 'number' ? error.errcode & 0xff : null;
}

export function isConstraint(error: unknown): boolean {
  return resultCode(error) === resultCodes.constraint;
}

/** Wraps SQLite's own errors; anything else (a hook, a bug) goes on as it is. */
export function asUnavailable(error: unknown): unknown {
  const code = resultCode(error);
  if (code === null || error instanceof StoreUnavailable) return error;
  return new StoreUnavailable(`${describe(code)}: ${error instanceof Error ? error.message : String(error)}`, {
    cause: error,
  });
}

function describe(code: number): string {
  switch (code) {
    case resultCodes.busy:
    case resultCodes.locked:
      return 'the database stayed locked by another process';
    case resultCodes.full:
      return 'the disk is full';
    case resultCodes.readOnly:
      return 'the database became read-only';
    case resultCodes.ioError:
      return 'the disk failed';
    case resultCodes.corrupt:
    case resultCodes.notADatabase:
      return 'the database file is damaged';
    default:
      return 'the database refused';
  }
}
