/**
 * Where on this machine a run was started from: the directory of its plan file. It is no part of the run, because
 * another machine has no such directory; it is kept beside the runner's own state, one small file per run.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface RunSources {
  remember(run: string, directory: string): void;
  /** Null where it is not known. */
  of(run: string): string | null;
  /** Runs whose directory was written down before this time, ms. */
  before(time: number): readonly string[];
  forget(run: string): void;
}

export function createRunSources(runnerDir: string): RunSources {
  const folder = join(runnerDir, 'sources');
  const known = new Map<string, string>();
  // Ids come from the store; what is not one names no file.
  const fileOf = (run: string): string | null => (/^[0-9a-f-]{36}$/.test(run) ? join(folder, run) : null);
  return {
    remember(run, directory) {
      const file = fileOf(run);
      if (file === null) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(file, directory, { mode: 0o600 });
      known.set(run, directory);
    },
    of(run) {
      const file = fileOf(run);
      const directory = known.get(run) ?? (file === null ? null : read(file));
      if (directory !== null) known.set(run, directory);
      return directory;
    },
    before: (time) =>
      namesIn(folder).filter((name) => fileOf(name) !== null && statSync(join(folder, name)).mtimeMs < time),
    forget(run) {
      const file = fileOf(run);
      known.delete(run);
      if (file !== null) rmSync(file, { force: true });
    },
  };
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
