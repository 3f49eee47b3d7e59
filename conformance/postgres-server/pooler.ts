/** PgBouncer in transaction mode before a server, where the machine has it: each transaction may get another session. */
import type { ChildProcess } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { queryOnce } from './query-once.ts';
import { serverUser } from './server-user.ts';

export interface PostgresPooler extends AsyncDisposable {
  /** The same database through the pooler. */
  url(direct: string): string;
}

const program = 'pgbouncer';

/** "1.18.0", or null where there is none. */
export function poolerVersion(): string | null {
  const { stdout, status } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 ? (/\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? null) : null;
}

const readyWithinMs = 10_000;

/** `sessionsMax` of the server are shared by all clients of a database. */
export async function startPostgresPooler(
  direct: string,
  { sessionsMax }: { readonly sessionsMax: number },
): Promise<PostgresPooler> {
  const directory = mkdtempSync(path.join(tmpdir(), 'forgeyard-pooler-'));
  const user = serverUser();
  if (user !== null) chownSync(directory, user.uid, user.gid);
  const port = await freePort();
  const { hostname, port: serverPort, username } = new URL(direct);
  const settings = path.join(directory, 'pgbouncer.ini');
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${serverPort || 5432} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${sessionsMax}
server_reset_query_always = 0
`,
  );
  const child = spawn(program, ['-q', settings], { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'], ...user });
  const log: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => log.push(chunk.toString()));
  const url = (database: string): string => {
    const through = new URL(database);
    through.hostname = '127.0.0.1';
    through.port = String(port);
    return through.href;
  };
  await answers(url(direct), child, log);
  return {
    url,
    async [Symbol.asyncDispose]() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function answers(url: string, child: ChildProcess, log: readonly string[]): Promise<void> {
  const stepMs = 25;
  for (let waitedMs = 0; ; waitedMs += stepMs) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended:\n${log.join('')}`);
    try {
      await queryOnce(url, 'SELECT 1');
      return;
    } catch (error) {
      if (waitedMs >= readyWithinMs) throw new Error(`pgbouncer does not answer:\n${log.join('')}`, { cause: error });
    }
    await delay(stepMs);
  }
}
