/**
 * Paths that come from a plan, an offer or a workload never leave the folder they are meant for
 * (000 §226): not by `..`, not by being absolute, not through a symbolic link.
 */
import { lstat, mkdir } from 'node:fs/promises';
import { dirname, isAbsolute, join, normalize, relative, sep } from 'node:path';
import { isMissing } from '../outputs/output-store.ts';

/** The path below `root`, or null where the text alone already leaves it. `.` is the root itself. */
export function below(root: string, path: string): string | null {
  if (path.includes('\0') || isAbsolute(path)) return null;
  const plain = normalize(path);
  if (plain === '..' || plain.startsWith(`..${sep}`)) return null;
  return join(root, plain);
}

/** Makes the folders between `root` and `path`. False where one of them is there already as something else. */
export async function makeFoldersAbove(root: string, path: string): Promise<boolean> {
  let folder = root;
  for (const name of relative(root, dirname(path)).split(sep)) {
    if (name === '') continue;
    folder = join(folder, name);
    const kind = await kindOf(folder);
    if (kind === 'other') return false;
    if (kind === 'missing') await mkdir(folder);
  }
  return true;
}

async function kindOf(path: string): Promise<'folder' | 'missing' | 'other'> {
  try {
    // `lstat`: a link to a folder is no folder.
    return (await lstat(path)).isDirectory() ? 'folder' : 'other';
  } catch (cause) {
    if (isMissing(cause)) return 'missing';
    throw cause;
  }
}
