/**
 * Which process hosts an in-process agent, written so that any later process on the same machine can prove it dead.
 *
 *  H1 "dead" needs proof: another boot of the same machine, or, in the same pid namespace of the same boot, no such
 *     process, a zombie, or another one that was given the pid later. Everything else is "not known": leases expire.
 *
 * Reading is synchronous: the runtime asks in the middle of its recovery, and the answers are a few bytes of /proc.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

export interface HostIdentity {
  /** The machine, as far as it has an identity of its own. */
  readonly machine: string;
  readonly boot: string;
  /** Processes are numbered anew in each namespace. */
  readonly namespace: string;
  readonly pid: number;
  /** When the process started; null where the system does not tell. */
  readonly started: string | null;
}

export type StartOfProcess = (pid: number) => string | null;

export function currentHost(): HostIdentity {
  return {
    machine: short(textOf('/etc/machine-id') ?? hostname()),
    boot: short(textOf('/proc/sys/kernel/random/boot_id') ?? outputOf('sysctl', ['-n', 'kern.boottime']) ?? 'unknown'),
    namespace: short(namespaceOf()),
    pid: process.pid,
    started: startOfProcess(process.pid),
  };
}

export function formatHost({ machine, boot, namespace, pid, started }: HostIdentity): string {
  return `v1 ${machine} ${boot} ${namespace} ${pid} ${started ?? '-'}`;
}

export function parseHost(text: string): HostIdentity | null {
  const parts = /^v1 ([0-9a-f]{16}) ([0-9a-f]{16}) ([0-9a-f]{16}) ([1-9]\d{0,9}) (\S{1,32})$/.exec(text);
  if (parts === null) return null;
  const [, machine = '', boot = '', namespace = '', pid, started = ''] = parts;
  return { machine, boot, namespace, pid: Number(pid), started: started === '-' ? null : started };
}

/** True only where it is proven (H1). */
export function isProvenDead(text: string, current: HostIdentity, startOf: StartOfProcess = startOfProcess): boolean {
  const host = parseHost(text);
  if (host === null || host.machine !== current.machine || host.namespace !== current.namespace) return false;
  if (host.boot !== current.boot) return true;
  return host.started !== null && startOf(host.pid) !== host.started;
}

/** When a live process started; null when there is none. */
function startOfProcess(pid: number): string | null {
  const stat = textOf(`/proc/${pid}/stat`);
  if (stat !== null) {
    // The name stands in parentheses and may hold anything, parentheses included.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  }
  if (process.platform === 'linux') return null;
  const started = outputOf('ps', ['-o', 'lstart=', '-p', String(pid)]);
  return started === null ? null : short(started);
}

function namespaceOf(): string {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return 'none';
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8').trim() || null;
  } catch {
    return null;
  }
}

function outputOf(file: string, args: readonly string[]): string | null {
  try {
    return (
      execFileSync(file, args, { encoding: 'utf8', timeout: 2_000, stdio: ['ignore', 'pipe', 'ignore'] }).trim() || null
    );
  } catch {
    return null;
  }
}

/** Identities of machines are nobody's business; equality is all that is needed. */
const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
