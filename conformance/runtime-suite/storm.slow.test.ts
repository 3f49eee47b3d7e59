import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMemoryStore, openSqliteStore } from '../../store/index.ts';
import { stormSuite } from './index.ts';

for (const seed of [2, 3])
  stormSuite(
    { describe, it, expect },
    'memory',
    { open: async ({ clock, hook }) => createMemoryStore({ clock, hook }) },
    seed,
  );

let directory = '';
const file = (): string => path.join(directory, 'store.db');
stormSuite(
  { describe, it, expect },
  'sqlite',
  {
    async open(environment) {
      directory = await mkdtemp(path.join(tmpdir(), 'forgeyard-storm-'));
      return openSqliteStore({ file: file(), ...environment });
    },
    reopen: async (environment) => openSqliteStore({ file: file(), ...environment }),
    remove: () => rm(directory, { recursive: true, force: true }),
  },
  7,
);
