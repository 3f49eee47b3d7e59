/** Registers tests once per server, each test with a database of its own. */
import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest';
import type { PostgresSubject, TestDatabases } from '../../../conformance/postgres-server/index.ts';
import { createTestDatabases } from '../../../conformance/postgres-server/index.ts';
import type { Store, StoreClock } from '../../contract.ts';
import type { PostgresStoreOptions } from '../index.ts';
import { migratePostgres, openPostgresStore } from '../index.ts';

export interface ServerBench {
  /** Of this test's database. */
  url(): string;
  /** Handles are closed after the test. */
  open(options?: Partial<PostgresStoreOptions>): Promise<Store>;
  databases(): TestDatabases;
}

export const monotonicMs = (): number => performance.now();
/** A clock that stands. */
export const fixedClock: StoreClock = { now: () => 1_750_000_000_000 };

export function onServers(
  subjects: readonly PostgresSubject[],
  name: string,
  body: (bench: ServerBench) => void,
): void {
  for (const subject of subjects) {
    describe(`${name} (${subject.name})`, () => {
      let databases: TestDatabases | undefined;
      let url = '';
      let stores: Store[] = [];
      const known = (): TestDatabases => {
        if (databases === undefined) throw new Error('the server is not there');
        return databases;
      };
      beforeAll(async () => {
        databases = await createTestDatabases(await subject.start(), async (template) => {
          await migratePostgres(template);
        });
      });
      afterAll(async () => {
        await databases?.close();
        await subject.stop();
      });
      beforeEach(async () => {
        url = await known().create();
      });
      afterEach(async () => {
        for (const store of stores) await store.close();
        stores = [];
        await known().drop(url);
      });
      body({
        url: () => url,
        databases: known,
        async open(options = {}) {
          const store = await openPostgresStore({ url, monotonicMs, connectionsMax: 4, ...options });
          stores.push(store);
          return store;
        },
      });
    });
  }
}
