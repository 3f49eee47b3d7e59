/** What every part of the store works with. */
import type { StoreClock, StoreHook } from '../contract.ts';
import type { Connection } from './connection.ts';
import type { PlanCache } from './plans.ts';

export interface SqliteContext {
  readonly connection: Connection;
  readonly clock: StoreClock;
  readonly hook: StoreHook;
  readonly plans: PlanCache;
}
