/**
 * One folder per attempt (000 §226): `work` is what the steps see, `private` holds script files.
 * An attempt never sees what another one left behind.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeTree } from './remove-tree.ts';

export interface Workspace {
  readonly directory: string;
  readonly work: string;
  readonly private: string;
}

export async function createWorkspace(stateDir: string, attempt: string): Promise<Workspace> {
  const directory = workspaceDirectory(stateDir, attempt);
  await rm(directory, { recursive: true, force: true });
  const workspace = { directory, work: join(directory, 'work'), private: join(directory, 'private') };
  await mkdir(workspace.work, { recursive: true, mode: 0o700 });
  await mkdir(workspace.private, { mode: 0o700 });
  return workspace;
}

/** Null when it is gone, else the problem: what a workload left must not stop the agent. */
export async function removeWorkspace(directory: string): Promise<string | null> {
  try {
    await removeTree(directory);
    return null;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

/** Attempt ids come over the wire; anything but plain id characters is refused before it becomes a path. */
export function workspaceDirectory(stateDir: string, attempt: string): string {
  if (!isPlainId(attempt)) throw new TypeError(`not an attempt id: ${JSON.stringify(attempt)}`);
  return join(stateDir, 'workspaces', attempt);
}

export function isPlainId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id);
}
