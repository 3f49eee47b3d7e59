import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestDatabases } from '../../conformance/postgres-server/index.ts';
import { createTestDatabases, postgresSubjects } from '../../conformance/postgres-server/index.ts';
import type { SuiteEnvironment, SuiteRunner } from '../suite/index.ts';
import { storeSuite } from '../suite/index.ts';
import { migratePostgres, openPostgresStore } from './index.ts';

const monotonicMs = () => performance.now();
/** The crash tests stop between the steps of a commit; in production there is only one step. */
const only = (wanted: (name: string) => boolean): SuiteRunner => ({
  describe: (name, body) => (name.startsWith('store') || wanted(name) ? describe(name, body) : undefined),
  it,
  expect,
});

for (const subject of await postgresSubjects()) {
  describe(subject.name, () => {
    let databases: TestDatabases;
    let url = '';

    beforeAll(async () => {
      databases = await createTestDatabases(await subject.start(), async (template) => {
        await migratePostgres(template);
      });
    });
    afterAll(async () => {
      await databases.close();
      await subject.stop();
    });

    const make = (open: (environment: SuiteEnvironment) => Parameters<typeof openPostgresStore>[0]) => ({
      async open(environment: SuiteEnvironment) {
        url = await databases.create();
        return openPostgresStore(open(environment));
      },
      reopen: (environment: SuiteEnvironment) => openPostgresStore(open(environment)),
      remove: () => databases.drop(url),
    });
    const options = { monotonicMs, connectionsMax: 4 };

    storeSuite(
      only((name) => name !== 'crash'),
      'postgres, one statement per commit',
      make(({ clock }) => ({ url, ...options, clock })),
    );
    storeSuite(
      only((name) => name === 'crash'),
      'postgres, step by step',
      make((environment) => ({ url, ...options, ...environment })),
    );
  });
}
