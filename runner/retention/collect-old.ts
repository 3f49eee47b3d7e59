/**
 * Removes what attempts left on this machine when nobody wants it any more: their logs, and the workspaces that were
 * kept for a look. A folder goes only when it carries the id of an attempt that is not to be kept, nothing in it has
 * changed for long enough, and no agent has the attempt on record. Anything else in these folders is left alone.
 */
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../outputs/output-store.ts';
import { removeTree } from '../workspace/remove-tree.ts';
import { isPlainId } from '../workspace/workspace.ts';

export interface RetentionOptions {
  /** Attempts whose folders stay, however old. */
  readonly keep: ReadonlySet<string>;
  /** Folders that changed since stay. Must exceed the longest time an attempt may be silent. */
  readonly olderThanMs: number;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly dryRun: boolean;
}

export interface CollectedFolders {
  /** Attempts whose folder was removed, or would be. */
  readonly removed: readonly string[];
  readonly bytes: number;
  readonly kept: number;
  /** Folders that could not be looked at or removed, e.g. for want of rights; the others were. */
  readonly failed: readonly { readonly attempt: string; readonly message: string }[];
}

export function collectOldLogs({
  logDir,
  ...options
}: RetentionOptions & { readonly logDir: string }): Promise<CollectedFolders> {
  return collectFolders(logDir, options, new Set());
}

/** `stateDir` is the runner's: a workspace that is in use, or will be swept by the next agent, stays. */
export async function collectOldWorkspaces({
  stateDir,
  ...options
}: RetentionOptions & { readonly stateDir: string }): Promise<CollectedFolders> {
  const records = await entriesOf(join(stateDir, 'attempts'));
  const onRecord = new Set(records.map(({ name }) => name.replace(/\.(json|tmp)$/, '')));
  return collectFolders(join(stateDir, 'workspaces'), options, onRecord);
}

async function collectFolders(
  dir: string,
  options: RetentionOptions,
  inUse: ReadonlySet<string>,
): Promise<CollectedFolders> {
  const removed: string[] = [];
  const failed: { attempt: string; message: string }[] = [];
  let bytes = 0;
  let kept = 0;
  for (const entry of await entriesOf(dir)) {
    const attempt = entry.name;
    if (!entry.isDirectory() || !isPlainId(attempt)) continue;
    try {
      const now = options.now();
      const found = await measure(join(dir, attempt), now);
      const wanted = options.keep.has(attempt) || inUse.has(attempt);
      if (wanted || now - found.changedMs < options.olderThanMs) {
        kept += 1;
        continue;
      }
      if (!options.dryRun) await removeTree(join(dir, attempt));
      removed.push(attempt);
      bytes += found.bytes;
    } catch (cause) {
      failed.push({ attempt, message: cause instanceof Error ? cause.message : String(cause) });
    }
  }
  return { removed, bytes, kept, failed };
}

interface Measured {
  readonly bytes: number;
  readonly changedMs: number;
}

/** Links are counted, never followed. A time in the future, which any step can set, says nothing about age. */
async function measure(path: string, now: number): Promise<Measured> {
  const stats = await lstat(path);
  let bytes = stats.isDirectory() ? 0 : stats.size;
  let changedMs = stats.mtimeMs <= now ? stats.mtimeMs : Math.min(stats.ctimeMs, now);
  if (stats.isDirectory()) {
    for (const { name } of await entriesOf(path)) {
      const inner = await measure(join(path, name), now);
      bytes += inner.bytes;
      changedMs = Math.max(changedMs, inner.changedMs);
    }
  }
  return { bytes, changedMs };
}

async function entriesOf(path: string) {
  try {
    return await readdir(path, { withFileTypes: true });
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw cause;
  }
}
