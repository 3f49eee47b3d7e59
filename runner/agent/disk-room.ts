/** Room on the disk the workspaces are on. */
import { statfs } from 'node:fs/promises';
import type { AgentOptions, AgentTuning } from './agent-options.ts';

async function freeBytesOf(path: string): Promise<number> {
  const disk = await statfs(path);
  return disk.bavail * disk.bsize;
}

export async function isDiskFull(options: AgentOptions, { freeBytesMin }: AgentTuning): Promise<boolean> {
  return (await (options.freeBytes ?? freeBytesOf)(options.stateDir)) < freeBytesMin;
}

/**
 * May the agent ask for offers? Without room it would refuse each of them; where it is the only runner, jobs would
 * go round between the queue and its refusals. The host is told once, and again when there is room.
 */
export function createRoomWatch(options: AgentOptions, tuning: AgentTuning): () => Promise<boolean> {
  let short = false;
  return async () => {
    // What cannot be measured is not in the way: taking an offer will name the trouble.
    const full = await isDiskFull(options, tuning).catch(() => false);
    if (full !== short) {
      short = full;
      options.onEvent(full ? { kind: 'diskShort', freeBytesMin: tuning.freeBytesMin } : { kind: 'diskRoomAgain' });
    }
    return !full;
  };
}
