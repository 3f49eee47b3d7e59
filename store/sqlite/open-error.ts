/** Why a database file cannot be used, in words for the person who named it. */
export const storeOpenCodes = {
  ReadOnly: 'The file or its directory cannot be written.',
  Locked: 'Another process holds the database and did not let go in time.',
  Foreign: 'The file is something else, not a store of this program.',
  Newer: 'The file was written by a newer version of this program.',
  Corrupt: 'The file is damaged.',
  DiskFull: 'There is no room left for the database.',
  NotADirectory: 'A part of the path is not a directory, or does not exist.',
  ChecksumMismatch: 'The file was made by a changed copy of a migration.',
  CannotOpen: 'The operating system refused to open the file.',
} as const;
export type StoreOpenCode = keyof typeof storeOpenCodes;

export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError';
  readonly code: StoreOpenCode;
  /** What to do about it. */
  readonly hint: string;

  constructor(code: StoreOpenCode, detail: { readonly file: string; readonly hint: string; readonly cause?: unknown }) {
    super(`${detail.file}: ${storeOpenCodes[code]}`, detail.cause === undefined ? {} : { cause: detail.cause });
    this.code = code;
    this.hint = detail.hint;
  }
}
