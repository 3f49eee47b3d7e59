/** The store for production: any number of processes on one PostgreSQL, every commit on disk before it is answered. */
import type { Store, StoreClock, StoreHook } from '../contract.ts';
import { auditMethods } from './audit.ts';
import { checkMethods } from './check.ts';
import { commitAll } from './commit.ts';
import type { PostgresContext } from './context.ts';
import type { Database, Statement } from './database.ts';
import { openDatabase } from './database.ts';
import { eligibleMethods } from './eligible.ts';
import { heartbeatMethods } from './heartbeat.ts';
import { requireSchema, withClient } from './migrate.ts';
import { outboxMethods } from './outbox.ts';
import { createPlanCache } from './plans.ts';
import { readMethods } from './reads.ts';
import { requireServer } from './require-server.ts';
import type { ServerClock } from './server-clock.ts';
import { createServerClock } from './server-clock.ts';
import { sessionMethods } from './sessions.ts';
import { timerMethods } from './timers.ts';
import { upkeepMethods } from './upkeep.ts';

export interface PostgresStoreOptions {
  /** postgres://user:password@host:port/database; of the pooler, where there is one. */
  readonly url: string;
  /** Of the server itself, past a pooler. Given: `url` is taken for a pooler that works per transaction. */
  readonly directUrl?: string;
  /** Milliseconds of a clock of this process that never steps; between two answers of the server time goes on by it. */
  readonly monotonicMs: () => number;
  /** Whether statements are prepared under names. Default: unless there is a pooler. */
  readonly prepared?: boolean;
  /** Most connections at once. Default 10. */
  readonly connectionsMax?: number;
  /** After this the server gives a statement up, ms. Default 30,000. */
  readonly statementTimeoutMs?: number;
  /** Takes the place of the server's clock (tests). */
  readonly clock?: StoreClock;
  /** Stops the store at named points (tests). */
  readonly hook?: StoreHook;
}

const connectTimeoutMs = 10_000;

/** Throws `PostgresOpenError`; `migratePostgres` makes or updates the schema. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, directUrl, monotonicMs, connectionsMax = 10, statementTimeoutMs = 30_000 } = options;
  await withClient(url, async (client) => {
    await requireServer(client, url);
    await requireSchema(client, url);
  });
  const ownsSessions = directUrl === undefined;
  const database = openDatabase({
    url,
    connectionsMax,
    ownsSessions,
    namesStatements: options.prepared ?? ownsSessions,
    connectTimeoutMs,
    statementTimeoutMs,
  });
  const clock = createServerClock({ monotonicMs, replacement: options.clock ?? null });
  await setClock(database, clock);
  const context: PostgresContext = {
    database,
    clock,
    hook: options.hook ?? null,
    plans: createPlanCache(database),
  };
  return {
    kind: 'postgres',
    now: () => clock.now(),
    commit: (commits) => commitAll(context, commits),
    ...readMethods(context),
    ...sessionMethods(context),
    ...eligibleMethods(context),
    ...timerMethods(context),
    ...outboxMethods(context),
    ...heartbeatMethods(context),
    ...auditMethods(context),
    ...upkeepMethods(context),
    ...checkMethods(context),
    close: () => database.close(),
  };
}

const serverNow: Statement = { name: 'now_v1', text: 'SELECT forgeyard.now_v1(NULL) AS now' };

async function setClock(database: Database, clock: ServerClock): Promise<void> {
  try {
    const [row] = await database.query(serverNow);
    clock.observe(Number(row?.now));
  } catch (error) {
    await database.close();
    throw error;
  }
}
