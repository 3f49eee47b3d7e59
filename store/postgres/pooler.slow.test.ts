/** Through a pooler in transaction mode: no session is ours, and nothing may need one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresPooler, TestDatabases } from '../../conformance/postgres-server/index.ts';
import {
  createTestDatabases,
  poolerVersion,
  postgresSubjects,
  queryOnce,
  startPostgresPooler,
} from '../../conformance/postgres-server/index.ts';
import type { SuiteEnvironment, SuiteRunner } from '../suite/index.ts';
import { changeStep, grantStep, storeSuite } from '../suite/index.ts';
import { migratePostgres, openPostgresStore } from './index.ts';
import { monotonicMs, onServers } from './test-support/on-servers.ts';
import { commitStep, newRun, writeSample } from './test-support/sample.ts';

const subjects = await postgresSubjects();
const [packaged] = subjects;
const version = poolerVersion();
if (version === null) console.log('PgBouncer: not tested through it, this machine has none');

onServers(packaged === undefined ? [] : [packaged], 'postgres as through a pooler', (bench) => {
  it('nothing is prepared under a name, and no parameter of the session is set', async () => {
    const store = await bench.open({ directUrl: bench.url(), connectionsMax: 1 });
    await writeSample(store);
    const [row] = await queryOnce(
      bench.url(),
      `SELECT application_name AS name FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
        AND backend_type = 'client backend'`,
    );
    expect(row).toEqual({ name: '' });
    expect((await store.check()).problems).toEqual([]);
  });
});

/** Every group of the suite that writes; the reads are the same statements everywhere. */
const groups = ['compare-and-set', 'receipts', 'guards', 'renewal', 'sessions', 'timers', 'outbox', 'heartbeat'];
const only: SuiteRunner = {
  describe: (name, body) => (name.startsWith('store') || groups.includes(name) ? describe(name, body) : undefined),
  it,
  expect,
};

if (version !== null && packaged !== undefined) {
  describe(`postgres through PgBouncer ${version} (${packaged.name})`, () => {
    let databases: TestDatabases;
    let pooler: PostgresPooler;
    let direct = '';
    beforeAll(async () => {
      const server = await packaged.start();
      databases = await createTestDatabases(server, async (template) => {
        await migratePostgres(template);
      });
      pooler = await startPostgresPooler(server, { sessionsMax: 2 });
    });
    afterAll(async () => {
      await pooler[Symbol.asyncDispose]();
      await databases.close();
      await packaged.stop();
    });
    const open = ({ clock }: Pick<SuiteEnvironment, 'clock'>) =>
      openPostgresStore({ url: pooler.url(direct), directUrl: direct, monotonicMs, connectionsMax: 6, clock });

    storeSuite(only, 'postgres', {
      async open(environment) {
        direct = await databases.create();
        return open(environment);
      },
      reopen: open,
      remove: () => databases.drop(direct),
    });

    it('many clients share two sessions, and none sees what another left', async () => {
      direct = await databases.create();
      const clock = { now: () => 1_750_000_000_000 };
      const stores = await Promise.all(Array.from({ length: 3 }, () => open({ clock })));
      await Promise.all(
        stores.map(async (store, place) => {
          const nodes = Array.from({ length: 2_500 }, () => ({}));
          // The first goes in several statements and one transaction, the others in one statement each.
          let rows = await commitStep(store, newRun(store, `run-${place}`, place === 0 ? nodes : [{}, {}, {}]));
          for (const index of [0, 1, 2]) {
            rows = await commitStep(store, grantStep(rows, { index, now: clock.now() }));
            rows = await commitStep(store, changeStep(rows, { message: `message-${index}` }, clock.now()));
          }
        }),
      );
      expect((await stores[0]?.check())?.problems).toEqual([]);
      for (const store of stores) await store.close();
      await databases.drop(direct);
    });
  });
}
