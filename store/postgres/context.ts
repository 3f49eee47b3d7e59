/** What every part of the store works with. */
import type { StoreHook } from '../contract.ts';
import type { Database } from './database.ts';
import type { PlanCache } from './plans.ts';
import type { ServerClock } from './server-clock.ts';

export interface PostgresContext {
  readonly database: Database;
  readonly clock: ServerClock;
  /** Null in production: then a commit is one statement that commits itself. */
  readonly hook: StoreHook | null;
  readonly plans: PlanCache;
}
