import { access, mkdir, mkdtemp, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAttemptRecords } from '../process/attempt-records.ts';
import { createWorkspace } from '../workspace/workspace.ts';
import { collectOldLogs, collectOldWorkspaces } from './collect-old.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'retention-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const hour = 3_600_000;
/** Whole seconds: file systems and floating point keep them exactly. */
const now = Math.floor(Date.now() / 1_000) * 1_000;
const options = { keep: new Set(['wanted']), olderThanMs: hour, now: () => now, dryRun: false };

/** A folder of an attempt, as old as said, with one file of ten bytes that may be of another age. */
async function folder(parent: string, attempt: string, ageMs: number, fileAgeMs = ageMs): Promise<string> {
  const path = join(parent, attempt);
  const file = join(path, 'attempt.log');
  await mkdir(path, { recursive: true });
  await writeFile(file, '0123456789');
  await utimes(file, (now - fileAgeMs) / 1_000, (now - fileAgeMs) / 1_000);
  await utimes(path, (now - ageMs) / 1_000, (now - ageMs) / 1_000);
  return path;
}

describe('retention: logs', () => {
  const collect = (more: Partial<Parameters<typeof collectOldLogs>[0]> = {}) =>
    collectOldLogs({ logDir: dir, ...options, ...more });

  test('old logs that nobody wants are removed, young and wanted ones stay', async () => {
    await folder(dir, 'old', 2 * hour);
    await folder(dir, 'wanted', 2 * hour);
    await folder(dir, 'young', hour - 1);
    await folder(dir, 'written-to', 2 * hour, hour / 2);
    expect(await collect()).toEqual({ removed: ['old'], bytes: 10, kept: 3, failed: [] });
    expect((await readdir(dir)).sort()).toEqual(['wanted', 'written-to', 'young']);
    expect(await collect()).toEqual({ removed: [], bytes: 0, kept: 3, failed: [] });
  });

  test('the age at which a log goes is the limit, not one millisecond less', async () => {
    await folder(dir, 'old', 2 * hour);
    expect((await collect({ olderThanMs: 2 * hour + 1 })).removed).toEqual([]);
    expect((await collect({ olderThanMs: 2 * hour })).removed).toEqual(['old']);
  });

  test('a dry run says the same and removes nothing', async () => {
    await folder(dir, 'old', 2 * hour);
    expect(await collect({ dryRun: true })).toEqual({ removed: ['old'], bytes: 10, kept: 0, failed: [] });
    expect(await readdir(dir)).toEqual(['old']);
  });

  test('what is no folder of an attempt is not touched, nor what a link leads to', async () => {
    const elsewhere = join(dir, 'elsewhere', 'logs');
    const logDir = join(dir, 'logs');
    await folder(elsewhere, 'precious', 2 * hour);
    await folder(logDir, '.hidden', 2 * hour);
    await folder(logDir, 'name with spaces', 2 * hour);
    await writeFile(join(logDir, 'README'), '');
    await symlink(elsewhere, join(logDir, 'link'));
    const old = await folder(logDir, 'old', 2 * hour);
    await symlink(elsewhere, join(old, 'link'));
    await utimes(old, (now - 2 * hour) / 1_000, (now - 2 * hour) / 1_000);
    // The link itself is young.
    expect((await collect({ logDir })).removed).toEqual([]);
    const later = () => Date.now() + 3 * hour;
    expect((await collect({ logDir, now: later })).removed).toEqual(['old']);
    expect((await readdir(logDir)).sort()).toEqual(['.hidden', 'README', 'link', 'name with spaces']);
    await access(join(elsewhere, 'precious', 'attempt.log'));
  });

  test('a folder that is not there holds nothing', async () => {
    expect(await collectOldLogs({ ...options, logDir: join(dir, 'none') })).toMatchObject({ removed: [], kept: 0 });
  });
});

describe('retention: workspaces', () => {
  const later = () => Date.now() + 2 * hour;
  const collect = () => collectOldWorkspaces({ stateDir: dir, ...options, now: later });

  test('a workspace whose attempt is on record stays: an agent works there, or will sweep it', async () => {
    for (const attempt of ['kept-for-a-look', 'at-work', 'wanted']) await createWorkspace(dir, attempt);
    const records = createAttemptRecords(dir);
    await records.write('at-work', []);
    expect(await collect()).toMatchObject({ removed: ['kept-for-a-look'], kept: 2 });
    await records.remove('at-work');
    expect(await collect()).toMatchObject({ removed: ['at-work'], kept: 1 });
    expect(await readdir(join(dir, 'workspaces'))).toEqual(['wanted']);
  });

  test('a file dated into the future does not keep a workspace for ever', async () => {
    const { work } = await createWorkspace(dir, 'dated');
    await writeFile(join(work, 'file'), '');
    await utimes(join(work, 'file'), 4_000_000_000, 4_000_000_000);
    expect(await collect()).toMatchObject({ removed: ['dated'] });
  });

  test('one that cannot be removed is named, and keeps no other from going', async () => {
    const { work } = await createWorkspace(dir, 'a-too-deep');
    await createWorkspace(dir, 'b-plain');
    // Two long paths, one moved below the other: no call can name what is at the bottom.
    const long = Array.from({ length: 14 }, () => 'd'.repeat(200));
    const [above, below] = [join(work, 'above', ...long), join(work, 'below')];
    await mkdir(above, { recursive: true });
    await mkdir(join(below, ...long), { recursive: true });
    await rename(below, join(above, 'below'));
    expect(await collect()).toMatchObject({
      removed: ['b-plain'],
      failed: [{ attempt: 'a-too-deep', message: expect.stringContaining('ENAMETOOLONG') }],
    });
    await rename(join(above, 'below'), below);
  });
});
