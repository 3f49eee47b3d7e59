/** A database for each test, cloned from a template that was prepared once. */
import { randomUUID } from 'node:crypto';
import { queryOnce } from './query-once.ts';

export interface TestDatabases {
  /** A fresh copy of the template: its url. */
  create(): Promise<string>;
  drop(url: string): Promise<void>;
  /** Drops the template and whatever a failed test left. */
  close(): Promise<void>;
}

/** `url` names a server and a database to connect to first; `prepare` fills the template (migrations, say). */
export async function createTestDatabases(
  url: string,
  prepare: (template: string) => Promise<void>,
): Promise<TestDatabases> {
  const made = new Set<string>();
  const create = async (from: string | null): Promise<string> => {
    const name = `forgeyard_test_${randomUUID().replaceAll('-', '')}`;
    await queryOnce(url, `CREATE DATABASE ${name}${from === null ? '' : ` TEMPLATE ${nameIn(from)}`}`);
    const database = withDatabase(url, name);
    made.add(database);
    return database;
  };
  const drop = async (database: string): Promise<void> => {
    await queryOnce(url, `DROP DATABASE IF EXISTS ${nameIn(database)} WITH (FORCE)`);
    made.delete(database);
  };
  const template = await create(null);
  await prepare(template);
  return {
    create: () => create(template),
    drop,
    async close() {
      for (const database of made) await drop(database);
    },
  };
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

const nameIn = (url: string): string => new URL(url).pathname.slice(1);
