/**
 * All processes of one attempt: the groups its steps started, and the only way to end them (000 §66).
 *
 *  W1 A group is known to the lease keeper and to the attempt's record before anything waits for it.
 *  W2 Ending means TERM to every group, the grace, KILL to every group and to whatever carries the
 *     attempt's id elsewhere; it returns when nothing of the workload can act any more.
 */
import type { RunnerClock } from '../clock.ts';
import { pause } from '../clock.ts';
import { groupLives, pidsOfAttempts, signalGroup, signalPid } from './process-table.ts';

export interface Workload {
  add(group: number): Promise<void>;
  /** The leader has ended; the group is forgotten unless it left somebody behind. */
  leaderEnded(group: number): Promise<void>;
  terminate(graceMs: number): Promise<void>;
  /** Synchronous last resort, also when the agent's process exits. */
  killNow(): void;
}

export interface WorkloadOptions {
  readonly attempt: string;
  readonly clock: RunnerClock;
  readonly onGroup: (group: number) => Promise<void>;
  readonly onGroupGone: (group: number) => void;
}

const lookAgainMs = 20;
/** A killed process stays visible until the kernel has reaped it; longer waits point to uninterruptible I/O. */
const killedWaitMs = 2_000;

export function createWorkload(options: WorkloadOptions): Workload {
  const groups = new Set<number>();
  /** Nothing was started since the last termination. */
  let clean = true;
  const { clock } = options;

  async function untilGone(ms: number): Promise<boolean> {
    const end = clock.monotonic() + ms;
    for (;;) {
      for (const group of [...groups]) if (!(await groupLives(group))) forget(group);
      if (groups.size === 0) return true;
      if (clock.monotonic() >= end) return false;
      await pause(clock, lookAgainMs);
    }
  }
  function forget(group: number): void {
    groups.delete(group);
    options.onGroupGone(group);
  }
  function killNow(): void {
    for (const group of groups) signalGroup(group, 'SIGKILL');
  }

  return {
    async add(group) {
      groups.add(group);
      clean = false;
      await options.onGroup(group);
    },
    async leaderEnded(group) {
      if (groups.has(group) && !(await groupLives(group))) forget(group);
    },
    async terminate(graceMs) {
      if (clean) return;
      for (const group of groups) signalGroup(group, 'SIGTERM');
      if (!(await untilGone(graceMs))) {
        killNow();
        await untilGone(killedWaitMs);
      }
      await killStrays(new Set([options.attempt]));
      clean = groups.size === 0;
    },
    killNow,
  };
}

/** Kills what carries the attempts' ids, again and again while it forks. */
export async function killStrays(attempts: ReadonlySet<string>): Promise<number> {
  const passesMax = 10;
  const killed = new Set<number>();
  for (let pass = 0; pass < passesMax; pass += 1) {
    const strays = (await pidsOfAttempts(attempts)).filter((pid) => !killed.has(pid));
    if (strays.length === 0) break;
    for (const pid of strays) {
      signalPid(pid, 'SIGKILL');
      killed.add(pid);
    }
  }
  return killed.size;
}
