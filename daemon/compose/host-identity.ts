/**
 * Which process hosts an in-process agent, written so that any later process on the same machine can prove it dead.
 *
 *  H1 "dead" needs proof: another boot of the same machine, or, in the same pid namespace of the same boot, no such
 *     process, a zombie, or another one that was given the pid later. Everything else is "not known": leases expire.
 */
import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';

export interface HostIdentity {
  /** The machine, as far as it has an identity of its own. */
  readonly machine: string;
  readonly boot: string;
  /** Processes are numbered anew in each namespace. */
  readonly namespace: string;
  readonly pid: number;
  readonly started: string;
}

const separator = ' ';

export async function currentHost(): Promise<HostIdentity> {
  const [machine, boot, namespace, started] = await Promise.all([
    textOf('/etc/machine-id').then((id) => id ?? hostname()),
    textOf('/proc/sys/kernel/random/boot_id').then((id) => id ?? bootOfDarwin()),
    readlink('/proc/self/ns/pid').catch(() => 'none'),
    startOf(process.pid),
  ]);
  return { machine, boot, namespace, pid: process.pid, started: started ?? 'unknown' };
}

export function formatHost({ machine, boot, namespace, pid, started }: HostIdentity): string {
  return ['v1', machine, boot, namespace, pid, started]
    .map((part) => encodeURIComponent(String(part)))
    .join(separator);
}

export function parseHost(text: string): HostIdentity | null {
  const [version, machine, boot, namespace, pid, started] = text.split(separator).map(decoded);
  if (version !== 'v1' || !machine || !boot || !namespace || !started || !/^[1-9]\d{0,9}$/.test(pid ?? '')) return null;
  return { machine, boot, namespace, pid: Number(pid), started };
}

/** True only where it is proven (H1). `startOf` tells when a process of this machine started, or null. */
export async function isProvenDead(
  text: string,
  current: HostIdentity,
  startOfProcess: (pid: number) => Promise<string | null> = startOf,
): Promise<boolean> {
  const host = parseHost(text);
  if (host === null || host.machine !== current.machine) return false;
  if (host.boot !== current.boot) return host.namespace === current.namespace;
  if (host.namespace !== current.namespace || host.started === 'unknown') return false;
  return (await startOfProcess(host.pid)) !== host.started;
}

/** When a live process started; null when there is none. */
async function startOf(pid: number): Promise<string | null> {
  const stat = await textOf(`/proc/${pid}/stat`);
  if (stat !== null) {
    // The name stands in parentheses and may hold anything, parentheses included.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  }
  if (process.platform === 'linux') return null;
  return await outputOf('ps', ['-o', 'lstart=', '-p', String(pid)]);
}

async function bootOfDarwin(): Promise<string> {
  return (await outputOf('sysctl', ['-n', 'kern.boottime'])) ?? 'unknown';
}

async function textOf(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => null);
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

function outputOf(file: string, args: readonly string[]): Promise<string | null> {
  return new Promise((done) => {
    execFile(file, args, { timeout: 2_000 }, (error, stdout) => {
      done(error !== null || stdout.trim() === '' ? null : stdout.trim());
    });
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}
