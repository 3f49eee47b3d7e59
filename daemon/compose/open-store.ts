/** Opens the store a command was told to use. Only what is opened is loaded. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Store, StoreClock } from '../../store/index.ts';
import type { Places } from './places.ts';

const systemStoreClock: StoreClock = { now: () => Date.now() };

/** Null where there is no store yet and `create` is false: reading must not make one. */
export async function openStore(places: Places, { create }: { readonly create: boolean }): Promise<Store | null> {
  switch (places.store.kind) {
    case 'memory': {
      const { createMemoryStore } = await import('../../store/memory/index.ts');
      return createMemoryStore({ clock: systemStoreClock });
    }
    case 'sqlite': {
      const { file } = places.store;
      if (!create && !existsSync(file)) return null;
      if (create) {
        await mkdir(dirname(file), { recursive: true });
        await makeHome(places.home);
      }
      const { openSqliteStore } = await import('../../store/sqlite/index.ts');
      return openSqliteStore({ file, clock: systemStoreClock });
    }
    default:
      return places.store satisfies never;
  }
}

/** Private to the user, and invisible to git: a run must not make the source it came from look changed. */
async function makeHome(home: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  await writeFile(join(home, '.gitignore'), '*\n', { flag: 'wx' }).catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  });
}
