/** The embedded store: one file, write-ahead log, every commit on disk before it is answered. */
import type { Store, StoreClock, StoreHook } from '../contract.ts';
import { auditMethods } from './audit.ts';
import { checkMethods } from './check.ts';
import { commitAll } from './commit.ts';
import type { SqliteContext } from './context.ts';
import { eligibleMethods } from './eligible.ts';
import { heartbeatMethods } from './heartbeat.ts';
import { openConnection } from './open.ts';
import { outboxMethods } from './outbox.ts';
import { createPlanCache } from './plans.ts';
import { readMethods } from './reads.ts';
import { sessionMethods } from './sessions.ts';
import { timerMethods } from './timers.ts';
import { upkeepMethods } from './upkeep.ts';

export interface SqliteStoreOptions {
  /** Path of the database file; its directory must exist. */
  readonly file: string;
  readonly clock: StoreClock;
  readonly hook?: StoreHook;
  /** How long to wait for another process that holds the lock, ms. Default 10,000: longer than the creation of a very big run. */
  readonly busyTimeoutMs?: number;
  /** Most pages (of 4 KiB) the file may grow to; beyond it writes fail as on a full disk. Default: no bound. */
  readonly pagesMax?: number;
}

const defaultBusyTimeoutMs = 10_000;

/** Throws `StoreOpenError`. Several processes may have the same file open. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const { file, clock, hook = () => {}, busyTimeoutMs = defaultBusyTimeoutMs, pagesMax = null } = options;
  const connection = openConnection({ file, clock, busyTimeoutMs, pagesMax });
  const context: SqliteContext = { connection, clock, hook, plans: createPlanCache(connection) };
  return {
    kind: 'sqlite',
    now: () => clock.now(),
    async commit(commits) {
      return commitAll(context, commits);
    },
    ...readMethods(context),
    ...sessionMethods(context),
    ...eligibleMethods(context),
    ...timerMethods(context),
    ...outboxMethods(context),
    ...heartbeatMethods(context),
    ...auditMethods(context),
    ...upkeepMethods(context),
    ...checkMethods(context),
    async close() {
      connection.close();
    },
  };
}
