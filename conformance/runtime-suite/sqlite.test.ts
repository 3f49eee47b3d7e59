import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openSqliteStore } from '../../store/index.ts';
import { runtimeSuite } from './index.ts';

/** What is shown here does not depend on the disk; the kill loop is for that. */
const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
let directory = '';
const file = (): string => path.join(directory, 'store.db');

runtimeSuite({ describe, it, expect }, 'sqlite', {
  async open(environment) {
    directory = await mkdtemp(path.join(root, 'forgeyard-runtime-'));
    return openSqliteStore({ file: file(), ...environment });
  },
  reopen: async (environment) => openSqliteStore({ file: file(), ...environment }),
  remove: () => rm(directory, { recursive: true, force: true }),
});
