import { chmod, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { OutputStore } from '../outputs/index.ts';
import { createOutputStore } from '../outputs/index.ts';
import { objectPath } from '../outputs/output-store.ts';
import type { OutputRefReport } from '../protocol/index.ts';
import type { MatchOptions } from './collect-files.ts';
import { matchFiles, uploadFiles } from './collect-files.ts';
import { placeInputs } from './place-inputs.ts';
import { below } from './safe-path.ts';
import { createWorkspace, workspaceDirectory } from './workspace.ts';

let dir: string;
let work: string;
let store: OutputStore;
const never = new AbortController().signal;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'workspace-'));
  store = createOutputStore(join(dir, 'outputs'));
  ({ work } = await createWorkspace(dir, 'attempt'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const write = async (path: string, text = path) => {
  await mkdir(join(work, path, '..'), { recursive: true });
  await writeFile(join(work, path), text);
};
const limits = { filesMax: 10, bytesMax: 1_000, pathCharsMax: 1_024 };
const match = (globs: string[], more: Partial<MatchOptions> = {}) =>
  matchFiles({ work, globs, eachMustMatch: true, limits, ...more });

describe('workspace: paths', () => {
  test('000 §226 no relative path leads out of the folder', () => {
    for (const path of ['..', '../x', 'a/../../x', '/etc/passwd', 'a\0b']) expect(below('/w', path), path).toBeNull();
    expect(below('/w', 'a/../b')).toBe('/w/b');
    expect(below('/w', '..a')).toBe('/w/..a');
  });
  test('an attempt id that is no plain id is refused', () => {
    for (const id of ['..', 'a/b', '', '.hidden'])
      expect(() => workspaceDirectory('/s', id)).toThrow('not an attempt id');
  });
});

describe('workspace: collecting', () => {
  test('globs match hidden files and folders, each file once, sorted', async () => {
    await write('dist/b.js');
    await write('dist/.hidden/a.js');
    expect(await match(['dist', '**/*.js'])).toEqual({
      kind: 'matched',
      paths: ['dist/.hidden/a.js', 'dist/b.js'],
      links: [],
    });
  });

  test('000 §226 a glob that leaves the workspace is refused, however it is spelled', async () => {
    await writeFile(join(dir, 'outside.txt'), 'secret');
    for (const glob of [
      '../outside.txt',
      '/etc/passwd',
      'a/../../*',
      '{..,x}/outside.txt',
      '..\\outside.txt',
      '{.,}./../outside.txt',
    ]) {
      expect((await match([glob])).kind, glob).toBe('refused');
    }
  });

  test('000 §226 symbolic links are never followed: to files, to folders, as a path component', async () => {
    await writeFile(join(dir, 'outside.txt'), 'secret');
    await write('real.txt');
    await symlink(join(dir, 'outside.txt'), join(work, 'link.txt'));
    await symlink(dir, join(work, 'up'));
    expect(await match(['**'])).toEqual({ kind: 'matched', paths: ['real.txt'], links: ['link.txt', 'up'] });
    expect(await match(['link.txt'])).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('1 symbolic'),
    });
    expect(await match(['up/outside.txt'])).toMatchObject({ message: expect.stringContaining('1 symbolic link was') });
    expect((await match(['up/outside.txt'])).kind).toBe('refused');
  });

  test('links that globs match are named, hidden and dangling ones too, and a circle of them ends', async () => {
    await write('dist/real.txt');
    await mkdir(join(work, 'dist/.bin'));
    await symlink('../gone', join(work, 'dist/.bin/tool'));
    await symlink('..', join(work, 'dist/up'));
    await symlink('real.txt', join(work, 'elsewhere'));
    expect(await match(['dist'])).toEqual({
      kind: 'matched',
      paths: ['dist/real.txt'],
      links: ['dist/.bin/tool', 'dist/up'],
    });
  });

  test('a file that became a link after matching is not read', async () => {
    await writeFile(join(dir, 'outside.txt'), 'secret');
    await symlink(join(dir, 'outside.txt'), join(work, 'swapped'));
    await expect(uploadFiles(store, work, ['swapped'], never)).rejects.toThrow('no regular file');
  });

  test('counts and sizes at the limit pass, one past it is refused with the numbers', async () => {
    for (let index = 0; index < 10; index += 1) await write(`${index}`, 'x'.repeat(100));
    expect((await match(['*'])).kind).toBe('matched');
    expect(await match(['*'], { limits: { ...limits, filesMax: 9 } })).toMatchObject({
      message: '10 files match, more than the limit of 9',
    });
    expect(await match(['*'], { limits: { ...limits, bytesMax: 999 } })).toMatchObject({
      message: 'the files have 1000 bytes, more than the limit of 999',
    });
  });

  test('uploaded files keep their path, size and mode', async () => {
    await write('tool', 'x');
    await chmod(join(work, 'tool'), 0o755);
    const [ref] = await uploadFiles(store, work, ['tool'], never);
    expect(ref).toMatchObject({ path: 'tool', bytes: 1, mode: 0o755 });
    expect(await store.verify(ref === undefined ? [] : [ref])).toEqual({ missing: [], corrupt: [] });
  });
});

describe('workspace: inputs', () => {
  const stored = async (path: string, text: string, mode = 0o644): Promise<OutputRefReport> => {
    async function* source() {
      yield Buffer.from(text);
    }
    return { path, mode, ...(await store.put(source())) };
  };
  const place = (...outputs: OutputRefReport[]) =>
    placeInputs({ work, store, inputs: [{ job: 'build', outputs }], signal: never });

  test('outputs of upstream jobs stand where they stood, with their mode', async () => {
    expect(await place(await stored('dist/bin/tool', 'run me', 0o755))).toMatchObject({ kind: 'placed', files: 1 });
    expect(await readFile(join(work, 'dist/bin/tool'), 'utf8')).toBe('run me');
    expect((await stat(join(work, 'dist/bin/tool'))).mode & 0o777).toBe(0o755);
  });

  test('000 §226 an input cannot be written outside, by its path or through a link', async () => {
    await symlink(dir, join(work, 'up'));
    expect(await place(await stored('../evil', 'x'))).toMatchObject({ kind: 'failed', transient: false });
    expect(await place(await stored('up/deep/evil', 'x'))).toMatchObject({ kind: 'failed', transient: false });
    await expect(stat(join(dir, 'deep'))).rejects.toThrow('ENOENT');
  });

  test('a missing or damaged object is a transient failure and leaves no file', async () => {
    const good = await stored('a', 'content');
    const path = objectPath(store.dir, good.digest);
    await chmod(path, 0o600);
    await writeFile(path, 'changed');
    expect(await place(good)).toEqual({
      kind: 'failed',
      message: 'build: a is corrupt in the output store',
      transient: true,
    });
    expect(await place(good)).toMatchObject({ message: 'build: a is missing in the output store', transient: true });
    await expect(stat(join(work, 'a'))).rejects.toThrow('ENOENT');
  });

  test('two jobs that bring different content for one path are refused, equal content is one file', async () => {
    const [one, two] = [await stored('a', 'one'), await stored('a', 'two')];
    const inputs = (second: OutputRefReport) => [
      { job: 'x', outputs: [one] },
      { job: 'y', outputs: [second] },
    ];
    expect(await placeInputs({ work, store, inputs: inputs(two), signal: never })).toMatchObject({
      kind: 'failed',
      message: 'a comes from both x and y, with different content',
    });
    expect(await placeInputs({ work, store, inputs: inputs(one), signal: never })).toEqual({
      kind: 'placed',
      files: 1,
      jobs: new Set(['x']),
    });
  });
});
