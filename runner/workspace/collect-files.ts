/**
 * Finds the files an output or report glob names. Only regular files below the workspace count: links
 * are never followed, so that a workload cannot have the runner publish a file it could not read itself
 * or that lies outside (000 §226).
 */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lstat, open, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { glob } from 'tinyglobby';
import type { OutputStore } from '../outputs/output-store.ts';
import type { OutputRefReport } from '../protocol/index.ts';
import { untilAborted } from '../until-aborted.ts';
import { readdirWithLinks } from './links-as-files.ts';

export interface CollectLimits {
  readonly filesMax: number;
  readonly bytesMax: number;
  /** Characters of one path, as the protocol bounds it. */
  readonly pathCharsMax: number;
}

const chunkBytes = 64 * 1024;

export type Matched =
  /** `links`: symbolic links, or files reached through one, which were left out. */
  | { readonly kind: 'matched'; readonly paths: readonly string[]; readonly links: readonly string[] }
  /** The plan or the workload is at fault; repeating the upload would not help. */
  | { readonly kind: 'refused'; readonly message: string };

export interface MatchOptions {
  readonly work: string;
  readonly globs: readonly string[];
  /** True: a glob that matches no file is refused. */
  readonly eachMustMatch: boolean;
  readonly limits: CollectLimits;
}

export async function matchFiles(options: MatchOptions): Promise<Matched> {
  const paths = new Set<string>();
  const links = new Set<string>();
  for (const pattern of options.globs) {
    if (escapes(pattern)) return { kind: 'refused', message: `the glob ${pattern} leaves the workspace` };
    let files = 0;
    for (const path of await expand(options.work, pattern)) {
      if (await isPlainFile(options.work, path)) {
        files += 1;
        paths.add(path);
      } else links.add(path);
    }
    if (options.eachMustMatch && files === 0) return { kind: 'refused', message: noMatch(pattern, links.size) };
  }
  const problem = await overLimit(options.work, paths, options.limits);
  if (problem !== null) return { kind: 'refused', message: problem };
  return { kind: 'matched', paths: [...paths].sort(), links: [...links].sort() };
}

/** Puts the files into the store. Throws when the store or the disk fails: that is worth another try. */
export async function uploadFiles(store: OutputStore, work: string, paths: readonly string[], signal: AbortSignal) {
  const refs: OutputRefReport[] = [];
  for (const path of paths) {
    signal.throwIfAborted();
    const file = await openPlain(work, path);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) throw new Error(`${path} is no regular file any more`);
      // A store that hangs must not keep the file open.
      const object = await untilAborted(store.put(chunksOf(file, signal)), signal);
      refs.push({ path, digest: object.digest, bytes: object.bytes, mode: stats.mode & 0o777 });
    } finally {
      await file.close();
    }
  }
  return refs;
}

/** A loop instead of a stream: nothing is left to fail on its own when the store does not read to the end. */
async function* chunksOf(file: FileHandle, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for (;;) {
    signal.throwIfAborted();
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(chunkBytes));
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function openPlain(work: string, path: string): Promise<FileHandle> {
  if (!(await isPlainFile(work, path))) throw new Error(`${path} is no regular file of the workspace any more`);
  return await open(join(work, path), constants.O_RDONLY | constants.O_NOFOLLOW);
}

function escapes(pattern: string): boolean {
  // Braces can spell `..` in pieces, so the walk's results are checked again in `isPlainFile`.
  return pattern.startsWith('/') || pattern.startsWith('!') || pattern.split(/[/\\{},]/).includes('..');
}

async function expand(work: string, pattern: string): Promise<readonly string[]> {
  return await glob([pattern], {
    cwd: work,
    dot: true,
    onlyFiles: true,
    followSymbolicLinks: false,
    expandDirectories: true,
    fs: { readdir: readdirWithLinks },
  });
}

async function isPlainFile(work: string, path: string): Promise<boolean> {
  const full = join(work, path);
  const stats = await lstat(full);
  return stats.isFile() && (await realpath(full)) === join(await realpath(work), path);
}

async function overLimit(work: string, paths: ReadonlySet<string>, limits: CollectLimits): Promise<string | null> {
  if (paths.size > limits.filesMax) return `${paths.size} files match, more than the limit of ${limits.filesMax}`;
  let bytes = 0;
  for (const path of paths) {
    if (path.length > limits.pathCharsMax) return `a path has more than ${limits.pathCharsMax} characters`;
    bytes += (await lstat(join(work, path))).size;
  }
  return bytes > limits.bytesMax ? `the files have ${bytes} bytes, more than the limit of ${limits.bytesMax}` : null;
}

function noMatch(pattern: string, links: number): string {
  const hint = links === 0 ? '' : ` (${links} symbolic ${links === 1 ? 'link was' : 'links were'} left out)`;
  return `the output ${pattern} matches no file${hint}`;
}
