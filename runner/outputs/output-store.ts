/**
 * Content-addressed bytes of outputs and reports: `<dir>/sha256/ab/<hex>` (000 §119, §245).
 *
 *  O1 An object appears whole or not at all: temporary name, fsync, rename, fsync of the folder.
 *  O2 A digest names bytes; putting the same bytes again replaces a damaged object by a sound one and
 *     makes it young again, so that a running collection does not take it.
 *  O3 Nobody trusts a name: `verify` and `read` hash what is there. Damaged objects are moved aside,
 *     so that they are missing from then on instead of wrong.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface StoredObject {
  readonly digest: string;
  readonly bytes: number;
}

export interface OutputVerifier {
  /** Each digest is in at most one list; what is in neither is sound. */
  verify(objects: readonly StoredObject[]): Promise<VerifiedObjects>;
}
export interface VerifiedObjects {
  readonly missing: readonly string[];
  readonly corrupt: readonly string[];
}

export type ReadObject = { readonly kind: 'found' } | { readonly kind: 'missing' } | { readonly kind: 'corrupt' };

export interface OutputStore extends OutputVerifier {
  readonly dir: string;
  put(source: AsyncIterable<Uint8Array>): Promise<StoredObject>;
  /** Writes the object's bytes to `target`; what was written before damage was noticed must be discarded. */
  read(digest: string, write: (chunk: Uint8Array) => Promise<void>): Promise<ReadObject>;
  has(digest: string): Promise<boolean>;
  remove(digest: string): Promise<void>;
}

const digestPattern = /^sha256:([0-9a-f]{64})$/;

export function createOutputStore(dir: string): OutputStore {
  const store: OutputStore = {
    dir,
    put: (source) => put(dir, source),
    read: (digest, write) => read(dir, digest, write),
    has: async (digest) => (await sizeOf(objectPath(dir, digest))) !== null,
    remove: async (digest) => await rm(objectPath(dir, digest), { force: true }),
    async verify(objects) {
      const missing = new Set<string>();
      const corrupt = new Set<string>();
      for (const object of objects) {
        const bytes = await sizeOf(objectPath(dir, object.digest));
        const found = await read(dir, object.digest, async () => undefined);
        if (found.kind === 'missing') missing.add(object.digest);
        else if (found.kind === 'corrupt' || bytes !== object.bytes) corrupt.add(object.digest);
      }
      return { missing: [...missing], corrupt: [...corrupt] };
    },
  };
  return store;
}

/** Where an object lives. A digest from outside is checked here, so that no name can leave the store. */
export function objectPath(dir: string, digest: string): string {
  const hex = digestPattern.exec(digest)?.[1];
  if (hex === undefined) throw new TypeError(`not a sha256 digest: ${JSON.stringify(digest)}`);
  return join(dir, 'sha256', hex.slice(0, 2), hex);
}

async function put(dir: string, source: AsyncIterable<Uint8Array>): Promise<StoredObject> {
  const temporaryDir = join(dir, 'tmp');
  await mkdir(temporaryDir, { recursive: true, mode: 0o700 });
  const temporary = join(temporaryDir, randomUUID());
  try {
    const object = await writeHashed(temporary, source);
    const target = objectPath(dir, object.digest);
    if (await makeFolder(dirname(target))) await syncFolder(join(dir, 'sha256'));
    await rename(temporary, target);
    await syncFolder(dirname(target));
    return object;
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
}

async function writeHashed(path: string, source: AsyncIterable<Uint8Array>): Promise<StoredObject> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(path, 'wx', 0o400);
  try {
    for await (const chunk of source) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      await writeAll(file, chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { digest: `sha256:${hash.digest('hex')}`, bytes };
}

async function read(dir: string, digest: string, write: (chunk: Uint8Array) => Promise<void>): Promise<ReadObject> {
  const path = objectPath(dir, digest);
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path)) {
      hash.update(chunk);
      await write(chunk);
    }
  } catch (cause) {
    if (isMissing(cause)) return { kind: 'missing' };
    throw cause;
  }
  if (`sha256:${hash.digest('hex')}` === digest) return { kind: 'found' };
  await moveAside(dir, path);
  return { kind: 'corrupt' };
}

async function moveAside(dir: string, path: string): Promise<void> {
  const corruptDir = join(dir, 'corrupt');
  await mkdir(corruptDir, { recursive: true, mode: 0o700 });
  const name = path.slice(dirname(path).length + 1);
  await rename(path, join(corruptDir, `${name}.${randomUUID()}`)).catch((cause: unknown) => {
    // Two readers noticed the same damage: one of them has moved it.
    if (!isMissing(cause)) throw cause;
  });
}

/** True where the folder was made, so that its parent must be synced too. */
async function makeFolder(path: string): Promise<boolean> {
  return (await mkdir(path, { recursive: true, mode: 0o700 })) !== undefined;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** One `write` may take only a part of the chunk. */
export async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  let offset = 0;
  while (offset < chunk.byteLength) {
    const { bytesWritten } = await file.write(chunk, offset, chunk.byteLength - offset);
    offset += bytesWritten;
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size;
  } catch (cause) {
    if (isMissing(cause)) return null;
    throw cause;
  }
}

export function isMissing(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
}
