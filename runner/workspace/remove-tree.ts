/** Removes a folder that a workload had its hands on. */
import { chmod, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

export async function removeTree(path: string): Promise<void> {
  try {
    await remove(path);
  } catch (cause) {
    if (!isDenied(cause)) throw cause;
    // Tools write-protect their caches; nothing can be removed from such a folder before that is undone.
    await unprotect(path);
    await remove(path);
  }
}

const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 3, retryDelay: 50 });

async function unprotect(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await unprotect(join(folder, entry.name));
}

function isDenied(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && (cause.code === 'EACCES' || cause.code === 'EPERM');
}
