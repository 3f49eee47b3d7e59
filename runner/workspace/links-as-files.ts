/**
 * Lets a glob find symbolic links without following them. tinyglobby either follows links or leaves them out
 * silently; what an author meant to keep and what was left out has to be said.
 */
import type { Dirent } from 'node:fs';
import { readdir } from 'node:fs';

/** `readdir` that shows symbolic links as files, so that a walk names them and never enters one. */
export const readdirWithLinks = new Proxy(readdir, {
  apply(target, self, given: readonly unknown[]) {
    const answer = given.at(-1);
    if (typeof answer !== 'function') return Reflect.apply(target, self, given);
    const named = (error: unknown, entries: readonly Dirent[] = []) => answer(error, entries.map(asFile));
    return Reflect.apply(target, self, [...given.slice(0, -1), named]);
  },
});

function asFile(entry: Dirent) {
  if (!entry.isSymbolicLink()) return entry;
  return { name: entry.name, isFile: () => true, isDirectory: () => false, isSymbolicLink: () => false };
}
