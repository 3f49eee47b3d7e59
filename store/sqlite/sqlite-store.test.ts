import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { storeSuite } from '../suite/index.ts';
import { openSqliteStore } from './index.ts';

let directory = '';
const template = () => path.join(directory, 'template.db');
const file = () => path.join(directory, 'store.db');

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'forgeyard-store-'));
  await openSqliteStore({ file: template(), clock: { now: () => 0 } }).close();
});
afterAll(() => rm(directory, { recursive: true }));

storeSuite({ describe, it, expect }, 'sqlite', {
  async open(environment) {
    await copyFile(template(), file());
    return openSqliteStore({ file: file(), ...environment });
  },
  reopen: async (environment) => openSqliteStore({ file: file(), ...environment }),
  remove: () => rm(file()),
});
