/** Why a database cannot be used, in words for the person who named it. */
export const postgresOpenCodes = {
  Unreachable: 'Nothing answers there, or it let nobody in.',
  TooOld: 'The server is older than PostgreSQL 14.',
  Unsafe: 'The server may lose what it has confirmed.',
  Missing: 'The database holds no store yet.',
  Older: 'The store has the schema of an older version of this program.',
  Newer: 'The store was made by a newer version of this program, which this one cannot work beside.',
  Foreign: 'The schema "forgeyard" is there, and is something else.',
  ChecksumMismatch: 'The store was made by a changed copy of a migration.',
} as const;
export type PostgresOpenCode = keyof typeof postgresOpenCodes;

export class PostgresOpenError extends Error {
  override readonly name = 'PostgresOpenError';
  readonly code: PostgresOpenCode;
  /** What to do about it. */
  readonly hint: string;

  constructor(
    code: PostgresOpenCode,
    detail: { readonly url: string; readonly hint: string; readonly cause?: unknown },
  ) {
    const cause = detail.cause === undefined ? {} : { cause: detail.cause };
    super(`${withoutPassword(detail.url)}: ${postgresOpenCodes[code]}`, cause);
    this.code = code;
    this.hint = detail.hint;
  }
}

function withoutPassword(url: string): string {
  if (!URL.canParse(url)) return 'the database';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
