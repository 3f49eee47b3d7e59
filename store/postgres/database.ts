/**
 * The connections of one store. Statements are constant SQL; named ones are prepared once per connection, unless a
 * pooler in between makes that impossible. No state of a session is ever relied on.
 */
import type { PoolClient } from 'pg';
import pg from 'pg';
import { asUnavailable, isRefusal, unavailable } from './postgres-errors.ts';

export interface Statement {
  readonly name: string;
  readonly text: string;
}

export type SqlValue = string | number | boolean | null | readonly string[];
export type SqlRow = Record<string, unknown>;

export interface Transaction {
  query(statement: Statement, values?: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

export interface Database extends Transaction {
  /**
   * One statement that changes something, as a transaction of its own. `sent` is told before anything leaves: an error
   * before it means that nothing happened.
   */
  execute(statement: Statement, values: readonly SqlValue[], sent: () => void): Promise<readonly SqlRow[]>;
  /** `begin` is the statement that opens it. Rolled back when `body` throws; `commit` says what COMMIT answered. */
  transaction<T>(
    begin: string,
    body: (transaction: Transaction, commit: () => Promise<void>) => Promise<T>,
  ): Promise<T>;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly connectionsMax: number;
  /** Off behind a pooler that hands out connections per transaction: then no parameters are set at start-up. */
  readonly ownsSessions: boolean;
  readonly namesStatements: boolean;
  readonly connectTimeoutMs: number;
  readonly statementTimeoutMs: number;
}

/** COMMIT was answered with something else: the server had rolled back. */
export class RolledBack extends Error {
  override readonly name = 'RolledBack';
}

const int8 = 20;
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === int8 ? Number : pg.types.getTypeParser(oid, format ?? 'text')) as typeof pg.types.getTypeParser,
};

export function openDatabase(options: DatabaseOptions): Database {
  const { url, connectionsMax, ownsSessions, namesStatements, connectTimeoutMs, statementTimeoutMs } = options;
  const pool = new pg.Pool({
    connectionString: url,
    max: connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    // Longer than the server's own, so that its answer is the one that counts while it lives.
    query_timeout: statementTimeoutMs + 5_000,
    keepAlive: true,
    types,
    ...(ownsSessions
      ? {
          application_name: 'forgeyard',
          statement_timeout: statementTimeoutMs,
          idle_in_transaction_session_timeout: statementTimeoutMs,
        }
      : {}),
  });
  // A connection that dies while idle is replaced by the next one who asks; one that dies at work says so twice: to the
  // statement that waits, which is where it is heard, and as an event that would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  const run = async (client: PoolClient, { name, text }: Statement, values: readonly SqlValue[]): Promise<SqlRow[]> => {
    const query = { text, values: [...values], ...(namesStatements ? { name } : {}) };
    return (await client.query<SqlRow>(query)).rows;
  };
  /** A connection about which anything but a plain refusal was heard is not used again. */
  const borrowed = async <T>(body: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await connect(pool);
    try {
      const result = await body(client);
      client.release();
      return result;
    } catch (error) {
      client.release(!isRefusal(error));
      throw asUnavailable(error);
    }
  };
  const query: Database['query'] = async (statement, values = []) => {
    try {
      return await borrowed((client) => run(client, statement, values).catch(asLost));
    } catch (error) {
      if (!(error instanceof LostConnection)) throw error;
      // Reading again is harmless, and the pool may have kept a connection of a server that has since restarted.
      return borrowed((client) => run(client, statement, values).catch(asGone));
    }
  };
  return {
    query,
    execute: (statement, values, sent) =>
      borrowed((client) => {
        sent();
        return run(client, statement, values).catch(asGone);
      }),
    transaction: (begin, body) => borrowed((client) => inTransaction(client, begin, body, run)),
    close: () => pool.end(),
  };
}

class LostConnection extends Error {}

function asLost(error: unknown): never {
  if (error instanceof pg.DatabaseError) throw error;
  throw new LostConnection('the connection was lost', { cause: error });
}

/** The driver's own errors are about the connection. */
function asGone(error: unknown): never {
  if (error instanceof pg.DatabaseError) throw error;
  throw unavailable('the connection to the database was lost', error);
}

async function connect(pool: pg.Pool): Promise<PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    throw error instanceof pg.DatabaseError
      ? asUnavailable(error)
      : unavailable('no connection to the database', error);
  }
}

async function inTransaction<T>(
  client: PoolClient,
  begin: string,
  body: (transaction: Transaction, commit: () => Promise<void>) => Promise<T>,
  run: (client: PoolClient, statement: Statement, values: readonly SqlValue[]) => Promise<SqlRow[]>,
): Promise<T> {
  let open = true;
  const commit = async (): Promise<void> => {
    open = false;
    const { command } = await client.query('COMMIT');
    if (command !== 'COMMIT') throw new RolledBack(`COMMIT was answered with ${command}`);
  };
  await client.query(begin).catch(asGone);
  try {
    const result = await body(
      { query: (statement, values = []) => run(client, statement, values).catch(asGone) },
      commit,
    );
    if (open) await commit().catch(asGone);
    return result;
  } catch (error) {
    if (open) await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}
