/** What the driver throws, told apart by who speaks: the server about a statement, or the connection about itself. */
import { DatabaseError } from 'pg';
import { StoreUnavailable } from '../contract.ts';

function sqlState(error: unknown): string | null {
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  return cause instanceof DatabaseError ? (cause.code ?? null) : null;
}

/** Classes of answers after which a transaction is certainly rolled back, when the server itself gives them. */
const refusals = new Set(['0A', '21', '22', '23', '25', '26', '40', '42', '53', '54', '55', 'P0']);
const queryCanceled = '57014';
const completionUnknown = '40003';

/** The server refused the statement and says so: nothing of it was kept. Everything else leaves that open (S4). */
export function isRefusal(error: unknown): boolean {
  const state = sqlState(error);
  if (state === null || state === completionUnknown) return false;
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  if (!(cause instanceof DatabaseError) || cause.severity !== 'ERROR') return false;
  return state === queryCanceled || refusals.has(state.slice(0, 2));
}

/** What the rows of a commit can be refused for: constraints, values that do not fit, too much of something. */
const brokenRows = new Set(['0A', '21', '22', '23', '54', 'P0']);

/** The rows are at fault, so whoever made them, and not the server: sent again they would be refused again. */
export function isBrokenRows(error: unknown): boolean {
  return brokenRows.has(sqlState(error)?.slice(0, 2) ?? '');
}

const uniqueViolation = '23505';

/** Somebody was faster, or two waited for each other: the same statement may do better now. */
export function isWorthRepeating(error: unknown): boolean {
  const state = sqlState(error);
  return state === uniqueViolation || (state?.startsWith('40') === true && state !== completionUnknown);
}

/** Wraps what the server and the driver say; what a hook threw goes on as it is. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  if (error instanceof DatabaseError) return unavailable(`${inWords(error)}: ${error.message}`, error);
  return error;
}

export function unavailable(message: string, cause: unknown): StoreUnavailable {
  return new StoreUnavailable(message, { cause });
}

function inWords(error: DatabaseError): string {
  const state = error.code ?? '';
  if (state === '55P03') return 'a lock was not free in time';
  if (state === queryCanceled) return 'the statement took too long';
  if (['42883', '42P01', '42703', '3F000'].includes(state)) return 'the database has another schema than this program';
  if (state.startsWith('53')) return 'the database has no room left';
  if (state === '25006') return 'the database is read-only';
  if (state.startsWith('57') || state.startsWith('08')) return 'the database went away';
  return 'the database refused';
}
