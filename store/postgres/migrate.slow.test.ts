/** Making, updating and refusing databases. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PostgresServer, TestDatabases } from '../../conformance/postgres-server/index.ts';
import {
  createPostgresServer,
  createTestDatabases,
  postgresSubjects,
  queryOnce,
  startPostgresServer,
} from '../../conformance/postgres-server/index.ts';
import { dumpPostgresSchema, migratePostgres, openPostgresStore, postgresStatus } from './index.ts';
import { migrations } from './migrations/index.ts';
import { monotonicMs } from './test-support/on-servers.ts';

const open = (url: string) => openPostgresStore({ url, monotonicMs });
const newest = migrations.length;

for (const subject of await postgresSubjects()) {
  describe(`postgres migrations (${subject.name})`, () => {
    let databases: TestDatabases;
    beforeAll(async () => {
      databases = await createTestDatabases(await subject.start(), async () => {});
    });
    afterAll(async () => {
      await databases.close();
      await subject.stop();
    });

    it('an empty database is refused until it is migrated, then opens', async () => {
      const url = await databases.create();
      await expect(open(url)).rejects.toMatchObject({ code: 'Missing', hint: expect.stringMatching(/store migrate/) });
      expect((await postgresStatus(url)).pending.map(({ version }) => version)).toEqual([1]);
      expect(await migratePostgres(url)).toEqual([1]);
      expect(await migratePostgres(url)).toEqual([]);
      const status = await postgresStatus(url);
      expect(status).toMatchObject({ schema: newest, newest, pending: [], problem: null });
      const store = await open(url);
      expect(Math.abs(store.now() - Date.now())).toBeLessThan(5_000);
      await store.close();
    });

    it('of many processes that migrate at once one does it', async () => {
      const url = await databases.create();
      const applied = await Promise.all(Array.from({ length: 4 }, () => migratePostgres(url)));
      expect(applied.flat()).toEqual([1]);
    });

    it('a migration that fails leaves nothing behind', async () => {
      const url = await databases.create();
      const broken = {
        version: 2,
        name: 'broken',
        worksFrom: 1,
        sql: 'CREATE TABLE forgeyard.x (y int); SELECT 1 / 0',
      };
      await expect(migratePostgres(url, [...migrations, broken])).rejects.toThrow(/division by zero/);
      expect((await postgresStatus(url)).schema).toBe(0);
      expect(await migratePostgres(url)).toEqual([1]);
    });

    it('a schema that somebody else made is left alone', async () => {
      const url = await databases.create();
      await queryOnce(url, 'CREATE SCHEMA forgeyard; CREATE TABLE forgeyard.theirs (x int)');
      await expect(open(url)).rejects.toMatchObject({ code: 'Foreign' });
      await expect(migratePostgres(url)).rejects.toMatchObject({ code: 'Foreign' });
      expect(await queryOnce(url, 'SELECT count(*) AS tables FROM forgeyard.theirs')).toEqual([{ tables: '0' }]);
    });

    it('an older store says what to do, a newer one stops only those it does not work beside', async () => {
      const url = await databases.create();
      await migratePostgres(url);
      const next = { version: newest + 1, name: 'next', worksFrom: newest, sql: 'CREATE TABLE forgeyard.more (x int)' };
      await expect(postgresStatus(url, [...migrations, next])).resolves.toMatchObject({ problem: { code: 'Older' } });
      expect(await migratePostgres(url, [...migrations, next])).toEqual([next.version]);
      await (await open(url)).close();
      const later = { version: newest + 2, name: 'later', worksFrom: newest + 2, sql: 'DROP TABLE forgeyard.more' };
      await migratePostgres(url, [...migrations, next, later]);
      await expect(open(url)).rejects.toMatchObject({ code: 'Newer', hint: expect.stringMatching(/update/) });
      await expect(migratePostgres(url)).rejects.toMatchObject({ code: 'Newer' });
    });

    it('a store made by a changed copy of a migration is refused', async () => {
      const url = await databases.create();
      await migratePostgres(url);
      await queryOnce(url, `UPDATE forgeyard.schema_migrations SET checksum = 'sha256:0'`);
      await expect(open(url)).rejects.toMatchObject({ code: 'ChecksumMismatch' });
    });

    it('the schema is the one that is checked in', async () => {
      const url = await databases.create();
      await migratePostgres(url);
      const kept = await readFile(new URL('./schema.txt', import.meta.url), 'utf8');
      expect(await dumpPostgresSchema(url)).toBe(kept);
    });

    it('a database that may not promise what it confirms is refused', async () => {
      const url = await databases.create();
      await migratePostgres(url);
      const name = new URL(url).pathname.slice(1);
      const settings = [
        ['synchronous_commit', 'off'],
        ['default_transaction_isolation', `'repeatable read'`],
      ];
      for (const [setting, value] of settings) {
        await queryOnce(url, `ALTER DATABASE ${name} SET ${setting} = ${value}`);
        await expect(open(url)).rejects.toMatchObject({
          code: 'Unsafe',
          hint: expect.stringContaining(String(setting)),
        });
        await queryOnce(url, `ALTER DATABASE ${name} RESET ${setting}`);
      }
    });
  });
}

describe('postgres servers', () => {
  it.each(['fsync', 'full_page_writes'])('%s off is refused', async (setting) => {
    await using server: PostgresServer = await startPostgresServer({ on: 'memory', settings: { [setting]: 'off' } });
    await migratePostgres(server.url('postgres'));
    await expect(open(server.url('postgres'))).rejects.toMatchObject({
      code: 'Unsafe',
      hint: expect.stringContaining(setting),
    });
  });

  it('what does not answer is said to be unreachable, without the password', async () => {
    await using server = await createPostgresServer({ on: 'memory' });
    const url = server.url('postgres').replace('postgres@', 'postgres:secret@');
    const error = await open(url).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'Unreachable' });
    expect(String(error)).not.toContain('secret');
  });
});
