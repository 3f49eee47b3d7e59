/**
 * A real PostgreSQL for tests: a data directory of its own, a free port, `postgres` spawned directly so that it can be
 * killed and started again like a crashed machine. Everything is gone after `close`.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { embeddedBinaries } from './embedded-binaries.ts';
import { freePort } from './free-port.ts';
import { queryOnce } from './query-once.ts';
import { serverUser } from './server-user.ts';

export interface PostgresServer extends AsyncDisposable {
  readonly port: number;
  url(database: string): string;
  /** Starts it on the same data; also after `crash`. Resolves when it answers. */
  start(): Promise<void>;
  /** As a power cut would: no checkpoint, clients are cut off. */
  crash(): Promise<void>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/** Small, but as durable as in production: what a store refuses to run without must be on. */
const settings: Readonly<Record<string, string>> = {
  shared_buffers: '32MB',
  max_connections: '60',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_wal_size: '256MB',
  autovacuum_naptime: '5s',
  logging_collector: 'off',
};

const readyWithinMs = 30_000;

export interface ServerOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** Where its data lies: `memory` answers every fsync at once, which no benchmark may do. Default: disk. */
  readonly on?: 'memory' | 'disk';
}

export async function createPostgresServer(options: ServerOptions = {}): Promise<PostgresServer> {
  const directory = mkdtempSync(path.join(options.on === 'memory' ? memory() : tmpdir(), 'forgeyard-postgres-'));
  const user = serverUser();
  if (user !== null) chownSync(directory, user.uid, user.gid);
  const binaries = embeddedBinaries(directory, user);
  const data = path.join(directory, 'data');
  const spawning = { cwd: directory, env: { ...binaries.environment, LC_ALL: 'C', TZ: 'UTC' }, ...user };
  const made = spawnSync(
    binaries.initdb,
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    { ...spawning, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  const url = (database: string): string => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const flags = Object.entries({ ...settings, ...options.settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  let child: ChildProcess | null = null;
  // A test that ends its process early must not leave a server behind.
  const takeAlong = (): void => {
    child?.kill('SIGQUIT');
    rmSync(directory, { recursive: true, force: true });
  };
  process.once('exit', takeAlong);

  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    const running = child;
    child = null;
    if (running === null || running.exitCode !== null || running.signalCode !== null) return;
    const exited = once(running, 'exit');
    running.kill(signal);
    await exited;
  };
  const server: PostgresServer = {
    port,
    url,
    async start() {
      const log: string[] = [];
      const started = spawn(binaries.postgres, ['-D', data, '-p', String(port), ...flags], {
        ...spawning,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      started.stderr?.on('data', (chunk: Buffer) => log.push(chunk.toString()));
      child = started;
      await answers(url('postgres'), started, log);
    },
    // SIGQUIT ends the children too; SIGKILL would leave them on the data directory.
    crash: () => stop('SIGQUIT'),
    async close() {
      await stop('SIGINT');
      process.removeListener('exit', takeAlong);
      rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
  return server;
}

export async function startPostgresServer(options: ServerOptions = {}): Promise<PostgresServer> {
  const server = await createPostgresServer(options);
  try {
    await server.start();
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** A file system in memory with room for a hundred small databases, or the disk. */
function memory(): string {
  const candidate = '/dev/shm';
  try {
    const { bavail, bsize } = statfsSync(candidate);
    return bavail * bsize > 4 * 1024 ** 3 ? candidate : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** The only honest sign of readiness is an answer to a query. */
async function answers(url: string, child: ChildProcess, log: readonly string[]): Promise<void> {
  const stepMs = 25;
  for (let waitedMs = 0; ; waitedMs += stepMs) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`postgres ended:\n${log.join('')}`);
    try {
      await queryOnce(url, 'SELECT 1');
      return;
    } catch (error) {
      if (waitedMs >= readyWithinMs) throw new Error(`postgres does not answer:\n${log.join('')}`, { cause: error });
    }
    await delay(stepMs);
  }
}
