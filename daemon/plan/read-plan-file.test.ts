import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { planLimits } from '../../machines/plan/index.ts';
import { readPlanFile } from './read-plan-file.ts';
import { sourceSnapshot } from './source-snapshot.ts';

const plan = 'project: p\nname: n\njobs:\n  a:\n    steps: [x]\n';
let directory = '';

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'forgeyard-plan-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

async function written(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, content);
  return path;
}

function git(...command: string[]): string {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org', '-c', 'commit.gpgsign=false'];
  return execFileSync('git', ['-C', directory, ...identity, ...command], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

describe('plan file', () => {
  test('is read with its text and the source it stands in', async () => {
    const result = await readPlanFile(await written('plan.yaml', plan));
    expect(result).toMatchObject({
      ok: true,
      text: plan,
      plan: { source: { kind: 'directory', commit: null, dirty: false } },
    });
  });

  test('is JSON when its name says so', async () => {
    const path = await written('plan.json', plan);
    expect(await readPlanFile(path)).toMatchObject({
      ok: false,
      problems: [{ code: 'SyntaxError', line: 1, column: 1 }],
    });
    expect(await readPlanFile(path, { format: 'yaml' })).toMatchObject({ ok: true });
  });

  test.each([
    ['that is not there', 'missing.yaml', 'there is no such file'],
    ['that is a directory', '.', 'this is a directory'],
    ['below a file', 'plan.yaml/x', 'a part of its path is not a directory'],
  ])('one %s is a problem, no exception', async (_, name, message) => {
    await written('plan.yaml', plan);
    const result = await readPlanFile(join(directory, name));
    expect(result).toMatchObject({ ok: false, text: null, problems: [{ code: 'FileUnreadable', message }] });
  });

  test('is refused when it is too large', async () => {
    const path = await written('large.yaml', plan);
    await truncate(path, planLimits.fileBytesMax.value + 1);
    expect(await readPlanFile(path)).toMatchObject({ ok: false, text: null, problems: [{ code: 'FileTooLarge' }] });
  });

  test('is refused when it has no end', async () => {
    expect(await readPlanFile('/dev/zero')).toMatchObject({
      ok: false,
      text: null,
      problems: [{ code: 'FileTooLarge' }],
    });
  });

  test.each([
    ['an overlong byte', [0xff]],
    ['half a character', [0xc3]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
  ])('with %s is no UTF-8', async (_, bytes) => {
    const path = await written('plan.yaml', Buffer.concat([Buffer.from(plan), Buffer.from(bytes)]));
    expect(await readPlanFile(path)).toMatchObject({ ok: false, text: null, problems: [{ code: 'NotUtf8' }] });
  });
});

describe('source snapshot', () => {
  test('names the commit, and says when files differ from it', async () => {
    git('init', '--quiet');
    expect(await sourceSnapshot(directory)).toEqual({ kind: 'directory', commit: null, dirty: false });
    await written('a', '1');
    git('add', 'a');
    git('commit', '--quiet', '--message', 'first');
    const commit = git('rev-parse', 'HEAD').trim();
    expect(await sourceSnapshot(directory)).toEqual({ kind: 'git', commit, dirty: false });
    await written('b', 'untracked');
    expect(await sourceSnapshot(directory)).toEqual({ kind: 'git', commit, dirty: true });
  });

  test('a checkout cannot have programs started by its settings, nor a caller redirect it', async () => {
    git('init', '--quiet');
    git('commit', '--quiet', '--allow-empty', '--message', 'first');
    git('config', 'core.fsmonitor', `touch ${join(directory, 'started')}; false`);
    const snapshot = await sourceSnapshot(directory, { ...process.env, GIT_DIR: '/nowhere' });
    expect(snapshot).toMatchObject({ kind: 'git', dirty: false });
  });

  test('is just a directory where git is not installed, or the directory is not there', async () => {
    const nothing = { kind: 'directory', commit: null, dirty: false };
    expect(await sourceSnapshot(directory, { PATH: '/nowhere' })).toEqual(nothing);
    expect(await sourceSnapshot(join(directory, 'missing'))).toEqual(nothing);
  });
});
