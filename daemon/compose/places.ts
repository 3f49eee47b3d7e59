/** Where things of one installation lie: the database, and beside it outputs, logs and the runner's own state. */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

export type StorePlace = { readonly kind: 'memory' } | { readonly kind: 'sqlite'; readonly file: string };

export interface Places {
  readonly store: StorePlace;
  /** Everything below is ours. */
  readonly home: string;
  readonly outputs: string;
  readonly logs: string;
  readonly runner: string;
  /** The directory the default home belongs to. */
  readonly project: string;
}

export interface PlacesOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the user wrote after `--store`, if anything. */
  readonly store: string | undefined;
}

export type PlacesResult =
  | { readonly ok: true; readonly places: Places }
  | { readonly ok: false; readonly problem: string; readonly hint: string };

const homeName = '.forgeyard';
const databaseName = 'forgeyard.db';
/** What makes a directory the root of a project, in this order for each directory on the way up. */
const rootMarks = [homeName, 'forgeyard.yaml', '.git'];

export function placesOf({ cwd, env, store }: PlacesOptions): PlacesResult {
  const project = projectRoot(cwd);
  const home = env.FORGEYARD_HOME ? resolve(cwd, env.FORGEYARD_HOME) : join(project, homeName);
  const written = store ?? env.FORGEYARD_STORE;
  if (written === undefined) return placed({ kind: 'sqlite', file: join(home, databaseName) }, { home, project });
  if (written.trim() === '' || written.includes('\0')) return refused('the name of the store is empty');
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(written)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'memory':
      return written.length > 'memory:'.length
        ? refused(`"${written}": nothing may follow "memory:"`)
        : placed({ kind: 'memory' }, { home, project });
    case 'sqlite':
      return fileStore(written.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, ''), { cwd, home, project });
    case undefined:
      return fileStore(written, { cwd, home, project });
    case 'postgres':
    case 'postgresql':
      return refused('PostgreSQL is not supported by this version');
    default:
      return refused(`"${scheme}:" is no kind of store`);
  }
}

interface Around {
  readonly home: string;
  readonly project: string;
}

/** What belongs to a database elsewhere lies next to it, so that whoever names the file finds the rest. */
function fileStore(written: string, { cwd, home, project }: Around & { readonly cwd: string }): PlacesResult {
  if (written === '') return refused('the path of the store is empty');
  const file = resolve(cwd, written);
  const isDefault = file === join(home, databaseName);
  return placed({ kind: 'sqlite', file }, { home: isDefault ? home : `${file}.d`, project });
}

function placed(store: StorePlace, { home, project }: Around): PlacesResult {
  const below = { outputs: join(home, 'outputs'), logs: join(home, 'logs'), runner: join(home, 'runner') };
  return { ok: true, places: { store, home, project, ...below } };
}

function refused(problem: string): PlacesResult {
  return { ok: false, problem, hint: 'write memory:, sqlite:PATH or the path of a file' };
}

function projectRoot(cwd: string): string {
  for (let at = resolve(cwd); ; at = dirname(at)) {
    if (rootMarks.some((mark) => existsSync(join(at, mark)))) return at;
    if (at === dirname(at)) return resolve(cwd);
  }
}
