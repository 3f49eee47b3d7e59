/** The program as a process, the way its user has it: words in, two streams and an exit code out. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when stderr has matched; rejects when the process ends without. */
  seen(pattern: RegExp): Promise<RegExpMatchArray>;
}

export interface Place {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

const program = join(import.meta.dirname, '..', 'main.ts');

export function start(place: Place, ...words: readonly string[]): Running {
  const {
    NO_COLOR: _noColor,
    FORCE_COLOR: _forceColor,
    FORGEYARD_HOME: _home,
    FORGEYARD_STORE: _store,
    ...env
  } = process.env;
  const child = spawn(process.execPath, [program, ...words], {
    cwd: place.cwd,
    env: { ...env, ...place.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    for (const watcher of [...watchers]) watcher();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
  return {
    child,
    ended,
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const match = pattern.exec(stderr);
          if (match === null) return;
          watchers.delete(look);
          resolve(match);
        };
        watchers.add(look);
        look();
        void ended.then(() => reject(new Error(`ended without ${pattern}:\n${stderr}`)));
      }),
  };
}

export async function forgeyard(place: Place, ...words: readonly string[]): Promise<Ended> {
  return await start(place, ...words).ended;
}

/** Parsed stdout of a call that must succeed. */
export async function json(place: Place, ...words: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await forgeyard(place, ...words, '-o', 'json');
  if (code !== 0) throw new Error(`forgeyard ${words.join(' ')}: exit ${code}\n${stderr}`);
  return JSON.parse(stdout);
}

/** A directory that is a project of its own, so that nothing above it is found. */
export function temporaryProject(): { readonly cwd: string; readonly remove: () => void } {
  const cwd = mkdtempSync(join(tmpdir(), 'forgeyard-cli-'));
  return { cwd, remove: () => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }) };
}

export const exampleFile = (name: string): string => join(import.meta.dirname, '..', '..', '..', 'examples', name);
