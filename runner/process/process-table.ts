/**
 * What the kernel says about processes (Linux `/proc`; elsewhere nothing is known, and then nothing is
 * killed on suspicion).
 */
import { readdir, readFile } from 'node:fs/promises';

/** Every process of a workload carries this variable, so that one that left its group is still found. */
export const attemptVariable = 'FORGEYARD_ATTEMPT_ID';

export interface ProcessRow {
  readonly pid: number;
  readonly state: string;
  readonly group: number;
  /** Boot id and ticks since boot: a pid that was given out again differs here. */
  readonly started: string;
}

export async function processRow(pid: number): Promise<ProcessRow | null> {
  const [stat, boot] = await Promise.all([text(`/proc/${pid}/stat`), bootId()]);
  if (stat === null) return null;
  // The name in parentheses may itself hold spaces and parentheses; fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, , group] = fields;
  const ticks = fields[19];
  if (state === undefined || group === undefined || ticks === undefined) return null;
  return { pid, state, group: Number(group), started: `${boot}:${ticks}` };
}

/** Ended, but not yet reaped by its parent. */
export function isDead(row: ProcessRow): boolean {
  return row.state === 'Z' || row.state === 'X';
}

/** True while any process of the group can still do something. */
export async function groupLives(group: number): Promise<boolean> {
  if (!signalGroup(group, 0)) return false;
  const pids = await allPids();
  if (pids === null) return true;
  const rows = await Promise.all(pids.map(processRow));
  return rows.some((row) => row !== null && row.group === group && !isDead(row));
}

/** Pids of live processes that carry one of the attempt ids in their environment. */
export async function pidsOfAttempts(attempts: ReadonlySet<string>): Promise<readonly number[]> {
  const pids = ((await allPids()) ?? []).filter((pid) => pid !== process.pid);
  const marked = await Promise.all(pids.map((pid) => carries(pid, attempts)));
  return pids.filter((_pid, index) => marked[index]);
}

/** False where nobody is left to be signalled. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  return signalPid(-group, signal);
}

export function signalPid(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ESRCH') return false;
    // EPERM: it is there, but not ours to signal.
    return true;
  }
}

async function carries(pid: number, attempts: ReadonlySet<string>): Promise<boolean> {
  const environment = await text(`/proc/${pid}/environ`);
  if (environment === null || !environment.includes(attemptVariable)) return false;
  return environment.split('\0').some((entry) => {
    const [name, value] = entry.split('=', 2);
    return name === attemptVariable && value !== undefined && attempts.has(value);
  });
}

async function allPids(): Promise<readonly number[] | null> {
  try {
    return (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  } catch {
    return null;
  }
}

let boot: Promise<string | null> | undefined;
function bootId(): Promise<string | null> {
  boot ??= text('/proc/sys/kernel/random/boot_id').then((id) => id?.trim() ?? null);
  return boot;
}

/** A process may end while it is looked at, or belong to somebody else. */
async function text(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'latin1');
  } catch {
    return null;
  }
}
