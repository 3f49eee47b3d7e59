import { glob } from 'tinyglobby';

const notOurs = ['**/node_modules/**', '**/dist/**', '**/.forgeyard/**', '**/.git/**', '**/reports/**'];

/** Files of the project that match, relative to `root`, sorted. Written by us only: never installed or built ones. */
export async function projectFiles(root: string, patterns: readonly string[]): Promise<readonly string[]> {
  const found = await glob([...patterns], { cwd: root, ignore: notOurs, dot: true });
  return found.sort();
}
