/**
 * Brings a database to the newest schema: one transaction under a lock that ends with it, so that of several processes
 * one migrates and the others find it done. What is not ours, or newer than we are, is left alone.
 */
import { createHash } from 'node:crypto';
import pg from 'pg';
import type { Migration } from './migrations/index.ts';
import { migrations } from './migrations/index.ts';
import { PostgresOpenError } from './open-error.ts';

export interface AppliedMigration {
  readonly version: number;
  readonly name: string;
  readonly checksum: string;
  /** The oldest schema whose program may work beside it. */
  readonly worksFrom: number;
  readonly appliedAt: number;
}

export interface PostgresStatus {
  /** "18.4" */
  readonly server: string;
  /** 0: no store yet. */
  readonly schema: number;
  /** What this program brings. */
  readonly newest: number;
  readonly applied: readonly AppliedMigration[];
  readonly pending: readonly { readonly version: number; readonly name: string }[];
  /** Why this program cannot use the database as it is, or null. */
  readonly problem: PostgresOpenError | null;
}

/** "Forgeyd" in ASCII: nobody else's lock. */
const lockKey = '19827053106586980';
const bookkeeping = `CREATE TABLE forgeyard.schema_migrations (
  version integer NOT NULL PRIMARY KEY,
  name text NOT NULL,
  checksum text NOT NULL,
  works_from integer NOT NULL,
  applied_at bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
)`;

/** Through the direct url where there is a pooler. Throws `PostgresOpenError`. Returns the versions it applied. */
export async function migratePostgres(
  url: string,
  list: readonly Migration[] = migrations,
): Promise<readonly number[]> {
  return withClient(url, async (client) => {
    await client.query('BEGIN');
    try {
      await client.query(`SET LOCAL lock_timeout = '60s'; SELECT pg_advisory_xact_lock(${lockKey})`);
      const pending = await pendingIn(client, url, list);
      for (const { version, name, worksFrom, sql } of pending) {
        if (version === 1) await client.query(`CREATE SCHEMA IF NOT EXISTS forgeyard; ${bookkeeping}`);
        await client.query(sql);
        await client.query(
          'INSERT INTO forgeyard.schema_migrations (version, name, checksum, works_from) VALUES ($1, $2, $3, $4)',
          [version, name, checksumOf(sql), worksFrom],
        );
      }
      await client.query('COMMIT');
      return pending.map(({ version }) => version);
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {});
      throw error;
    }
  });
}

async function pendingIn(client: pg.Client, url: string, list: readonly Migration[]): Promise<readonly Migration[]> {
  const applied = await appliedIn(client, url);
  const problem = problemWith(url, applied, list);
  if (problem !== null && problem.code !== 'Missing' && problem.code !== 'Older') throw problem;
  return list.filter(({ version }) => version > (applied.at(-1)?.version ?? 0));
}

export async function postgresStatus(url: string, list: readonly Migration[] = migrations): Promise<PostgresStatus> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ server: string }>(`SELECT current_setting('server_version') AS server`);
    const applied = await appliedIn(client, url);
    const schema = applied.at(-1)?.version ?? 0;
    return {
      server: rows[0]?.server.split(' ')[0] ?? '',
      schema,
      newest: newestOf(list),
      applied,
      pending: list.filter(({ version }) => version > schema).map(({ version, name }) => ({ version, name })),
      problem: problemWith(url, applied, list),
    };
  });
}

/** Throws unless this program and the schema it finds go together. */
export async function requireSchema(
  client: pg.Client,
  url: string,
  list: readonly Migration[] = migrations,
): Promise<void> {
  const problem = problemWith(url, await appliedIn(client, url), list);
  if (problem !== null) throw problem;
}

async function appliedIn(client: pg.Client, url: string): Promise<readonly AppliedMigration[]> {
  const { rows } = await client.query<{ book: string | null; holds: boolean }>(
    `SELECT to_regclass('forgeyard.schema_migrations')::text AS book,
      EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = to_regnamespace('forgeyard')) AS holds`,
  );
  if (rows[0]?.book === null) {
    if (rows[0].holds) {
      throw new PostgresOpenError('Foreign', { url, hint: 'Name another database; this one was left as it is.' });
    }
    return [];
  }
  const applied = await client.query<Omit<AppliedMigration, 'appliedAt'> & { appliedAt: string }>(
    `SELECT version, name, checksum, works_from AS "worksFrom", applied_at AS "appliedAt"
      FROM forgeyard.schema_migrations ORDER BY version`,
  );
  return applied.rows.map((row) => ({ ...row, appliedAt: Number(row.appliedAt) }));
}

function problemWith(
  url: string,
  applied: readonly AppliedMigration[],
  list: readonly Migration[],
): PostgresOpenError | null {
  const newest = newestOf(list);
  const schema = applied.at(-1)?.version ?? 0;
  const run = 'Run `forgeyard store migrate`.';
  if (applied.length === 0) return new PostgresOpenError('Missing', { url, hint: run });
  const needed = Math.max(...applied.map(({ worksFrom }) => worksFrom));
  if (needed > newest) {
    const hint = `It has schema ${schema}, which needs programs of schema ${needed}; this one has ${newest}: update it.`;
    return new PostgresOpenError('Newer', { url, hint });
  }
  const known = new Map(list.map(({ version, sql }) => [version, checksumOf(sql)]));
  const changed = applied.find(({ version, checksum }) => version <= newest && known.get(version) !== checksum);
  if (changed !== undefined) {
    const hint = `Migration ${changed.version} (${changed.name}) differs: use the program that made the store.`;
    return new PostgresOpenError('ChecksumMismatch', { url, hint });
  }
  if (schema < newest) {
    return new PostgresOpenError('Older', {
      url,
      hint: `It has schema ${schema}, this program needs ${newest}. ${run}`,
    });
  }
  return null;
}

const newestOf = (list: readonly Migration[]): number => list.at(-1)?.version ?? 0;

const checksumOf = (sql: string): string => `sha256:${createHash('sha256').update(sql).digest('hex')}`;

/** One connection for as long as `body` takes. Failing to get it is the one error a person can act on. */
export async function withClient<T>(url: string, body: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
  } catch (cause) {
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : String(cause);
    const hint = `Is the server running, and are host, port, user and password right? It said: ${reason}`;
    throw new PostgresOpenError('Unreachable', { url, hint, cause });
  }
  try {
    return await body(client);
  } finally {
    await client.end().catch(() => {});
  }
}
