import { createHash } from 'node:crypto';
import { chmod, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OutputStore } from './index.ts';
import { collectGarbage, createOutputStore } from './index.ts';
import { objectPath } from './output-store.ts';

let dir: string;
let store: OutputStore;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'output-store-'));
  store = createOutputStore(dir);
});
afterEach(() => rm(dir, { recursive: true }));

const put = (text: string) => store.put(Readable.from([Buffer.from(text)]));
const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
async function text(digest: string) {
  const chunks: Uint8Array[] = [];
  const found = await store.read(digest, async (chunk) => void chunks.push(chunk));
  return { kind: found.kind, text: Buffer.concat(chunks).toString() };
}
async function damage(digest: string) {
  const path = objectPath(dir, digest);
  await chmod(path, 0o600);
  await writeFile(path, 'damaged');
}

describe('outputs: store', () => {
  test('an object is found under the digest of its bytes, and no temporary file stays', async () => {
    expect(await put('hello')).toEqual({ digest: digestOf('hello'), bytes: 5 });
    expect(await text(digestOf('hello'))).toEqual({ kind: 'found', text: 'hello' });
    expect(await readdir(join(dir, 'tmp'))).toEqual([]);
  });

  test('an interrupted upload leaves neither object nor temporary file', async () => {
    async function* broken() {
      yield Buffer.from('half');
      throw new Error('disk fell over');
    }
    await expect(store.put(broken())).rejects.toThrow('disk fell over');
    expect(await store.has(digestOf('half'))).toBe(false);
    expect(await readdir(join(dir, 'tmp'))).toEqual([]);
  });

  test('000 §120 verification tells missing, damaged, wrongly sized and sound objects apart', async () => {
    const sound = await put('sound');
    const damaged = await put('damaged later');
    const resized = await put('resized');
    await damage(damaged.digest);
    const missing = { digest: digestOf('never put'), bytes: 1 };
    expect(await store.verify([sound, damaged, { ...resized, bytes: 1 }, missing])).toEqual({
      missing: [missing.digest],
      corrupt: [damaged.digest, resized.digest],
    });
  });

  test('a damaged object is moved aside and healed by the next put', async () => {
    const { digest } = await put('content');
    await damage(digest);
    expect((await text(digest)).kind).toBe('corrupt');
    expect((await text(digest)).kind).toBe('missing');
    expect(await readdir(join(dir, 'corrupt'))).toHaveLength(1);
    await put('content');
    expect(await text(digest)).toEqual({ kind: 'found', text: 'content' });
  });

  test('putting over an unnoticed damaged object heals it at once', async () => {
    const { digest } = await put('content');
    await damage(digest);
    await put('content');
    expect((await text(digest)).text).toBe('content');
  });

  test('a name that is no digest cannot leave the store', async () => {
    await expect(store.has('sha256:../../etc/passwd')).rejects.toThrow('not a sha256 digest');
  });
});

describe('outputs: garbage', () => {
  async function* referenced(...digests: string[]) {
    yield* digests;
  }
  const age = async (digest: string, ms: number) => {
    const then = (Date.now() - ms) / 1000;
    await utimes(objectPath(dir, digest), then, then);
  };
  const collect = (digests: string[], dryRun = false) =>
    collectGarbage(store, { referenced: referenced(...digests), olderThanMs: 60_000, now: Date.now, dryRun });

  test('only old objects that nothing names are removed', async () => {
    const [named, garbage, young] = [await put('named'), await put('garbage'), await put('young')];
    await age(named.digest, 120_000);
    await age(garbage.digest, 120_000);
    expect(await collect([named.digest], true)).toMatchObject({ removed: [garbage.digest], bytes: 7, kept: 2 });
    expect(await store.has(garbage.digest)).toBe(true);
    await collect([named.digest]);
    expect(await Promise.all([named, garbage, young].map((object) => store.has(object.digest)))).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('an object that is put again while references are read survives', async () => {
    const { digest } = await put('comes back');
    await age(digest, 120_000);
    async function* references() {
      await put('comes back');
      yield* [] as string[];
    }
    await collectGarbage(store, { referenced: references(), olderThanMs: 60_000, now: Date.now, dryRun: false });
    expect(await store.has(digest)).toBe(true);
  });

  test('left-overs of interrupted uploads go when they are old', async () => {
    await put('makes the folder');
    const path = join(dir, 'tmp', 'left-over');
    await writeFile(path, 'half');
    expect((await collect([])).temporary).toBe(0);
    await utimes(path, 1, 1);
    expect((await collect([])).temporary).toBe(1);
    expect(await readdir(join(dir, 'tmp'))).toEqual([]);
  });
});
