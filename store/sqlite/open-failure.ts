/** Turns whatever opening threw into the one error a person can act on. */
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { StoreUnavailable } from '../contract.ts';
import { StoreOpenError } from './open-error.ts';
import { resultCode, resultCodes } from './sqlite-errors.ts';

export function openFailure(file: string, error: unknown): unknown {
  if (error instanceof StoreOpenError) return error;
  const cause = error instanceof StoreUnavailable ? error.cause : error;
  switch (resultCode(cause)) {
    case resultCodes.busy:
    case resultCodes.locked:
      return new StoreOpenError('Locked', {
        file,
        cause,
        hint: 'Wait for the other process, or stop it, then try again.',
      });
    case resultCodes.notADatabase:
      return foreign(file, cause);
    case resultCodes.corrupt:
      return new StoreOpenError('Corrupt', { file, cause, hint: 'Keep a copy of the file, then restore a backup.' });
    case resultCodes.full:
      return new StoreOpenError('DiskFull', { file, cause, hint: 'Free some space on the disk and try again.' });
    case resultCodes.readOnly:
      return readOnly(file, cause);
    case resultCodes.cannotOpen:
    case resultCodes.ioError:
      return notOpened(file, cause);
    default:
      return error;
  }
}

export function foreign(file: string, cause?: unknown): StoreOpenError {
  return new StoreOpenError('Foreign', {
    file,
    hint: 'Name another file; this one was left as it is.',
    ...(cause === undefined ? {} : { cause }),
  });
}

export function readOnly(file: string, cause: unknown): StoreOpenError {
  const hint = 'Give this user the right to write the file and its directory, or name another place.';
  return new StoreOpenError('ReadOnly', { file, cause, hint });
}

/** SQLite says no more than "unable to open": the path tells why. */
function notOpened(file: string, cause: unknown): StoreOpenError {
  const directory = path.dirname(path.resolve(file));
  if (!isDirectory(directory)) {
    return new StoreOpenError('NotADirectory', { file, cause, hint: `Create the directory ${directory} first.` });
  }
  if (isDirectory(file))
    return new StoreOpenError('CannotOpen', { file, cause, hint: 'Name a file, not a directory.' });
  if (!isWritable(directory)) return readOnly(file, cause);
  // On a full disk SQLite cannot make the files beside the database, and says the same.
  const hint = 'Look at the rights of the file and its directory, and whether the disk is full.';
  return new StoreOpenError('CannotOpen', { file, cause, hint });
}

function isDirectory(place: string): boolean {
  return statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
}

export function isWritable(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
