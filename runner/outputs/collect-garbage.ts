/**
 * Removes objects that nothing names any more. An object is uploaded before the completion that names
 * it is committed, so a young object is never garbage, whatever the references say.
 */
import type { Dir, Stats } from 'node:fs';
import { opendir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { OutputStore } from './output-store.ts';
import { isMissing, objectPath } from './output-store.ts';

export interface CollectOptions {
  readonly referenced: AsyncIterable<string>;
  /** Younger objects stay. Must exceed the longest time between an upload and its completion. */
  readonly olderThanMs: number;
  /** Wall clock, ms. */
  readonly now: () => number;
  readonly dryRun: boolean;
}

export interface Collected {
  /** Digests that were removed, or would be. */
  readonly removed: readonly string[];
  readonly bytes: number;
  readonly kept: number;
  /** Left-overs of interrupted uploads. */
  readonly temporary: number;
}

export interface ListedObject {
  readonly digest: string;
  readonly bytes: number;
  readonly modifiedMs: number;
}

export async function collectGarbage(store: OutputStore, options: CollectOptions): Promise<Collected> {
  const old = (file: { readonly modifiedMs: number }) => options.now() - file.modifiedMs >= options.olderThanMs;
  const candidates: ListedObject[] = [];
  let kept = 0;
  for await (const object of listObjects(store)) {
    if (old(object)) candidates.push(object);
    else kept += 1;
  }
  // References are read after the listing: what is named meanwhile is seen, what is put meanwhile is young.
  const referenced = new Set<string>();
  for await (const digest of options.referenced) referenced.add(digest);

  const removed: string[] = [];
  let bytes = 0;
  for (const object of candidates) {
    const stats = await statOf(objectPath(store.dir, object.digest));
    if (referenced.has(object.digest) || stats === null || !old({ modifiedMs: stats.mtimeMs })) {
      kept += 1;
      continue;
    }
    if (!options.dryRun) await store.remove(object.digest);
    removed.push(object.digest);
    bytes += object.bytes;
  }
  return { removed, bytes, kept, temporary: await removeTemporary(store, old, options.dryRun) };
}

export async function* listObjects(store: OutputStore): AsyncGenerator<ListedObject> {
  for await (const folder of entries(join(store.dir, 'sha256'))) {
    for await (const name of entries(join(store.dir, 'sha256', folder))) {
      const stats = await statOf(join(store.dir, 'sha256', folder, name));
      if (stats !== null) yield { digest: `sha256:${name}`, bytes: stats.size, modifiedMs: stats.mtimeMs };
    }
  }
}

async function removeTemporary(store: OutputStore, old: (file: { modifiedMs: number }) => boolean, dryRun: boolean) {
  let count = 0;
  for await (const name of entries(join(store.dir, 'tmp'))) {
    const path = join(store.dir, 'tmp', name);
    const stats = await statOf(path);
    if (stats === null || !old({ modifiedMs: stats.mtimeMs })) continue;
    if (!dryRun) await rm(path, { force: true });
    count += 1;
  }
  return count;
}

async function* entries(path: string): AsyncGenerator<string> {
  let folder: Dir;
  try {
    folder = await opendir(path);
  } catch (cause) {
    if (isMissing(cause)) return;
    throw cause;
  }
  for await (const entry of folder) yield entry.name;
}

async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw cause;
  }
}
