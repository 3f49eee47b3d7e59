/** Several real processes on one file, and files that cannot be had. */
import { chmod, mkdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { id } from '../suite/index.ts';
import { openSqliteStore } from './index.ts';
import { startChild } from './test-support/child.ts';
import { sampleClock, temporaryDirectory, writeSample } from './test-support/sample-file.ts';

interface RaceResult {
  readonly created: string;
  readonly granted: number;
  readonly conflicts: number;
}

describe('sqlite: several processes', () => {
  it('open a new file at once, create one run, and grant each job once (000 §375.1, 000 §375.5)', async () => {
    await using directory = await temporaryDirectory();
    const jobs = 60;
    const names = ['a', 'b', 'c', 'd'];
    const workers = names.map((name) =>
      startChild(new URL('test-support/race-worker.ts', import.meta.url), [directory.file(), name, String(jobs)]),
    );
    for (const said of ['ready', 'loaded']) {
      for (const worker of workers) expect(await worker.nextLine()).toBe(said);
      for (const worker of workers) worker.signal();
    }
    const codes = await Promise.all(workers.map((worker) => worker.finish()));
    expect(codes).toEqual(names.map(() => 0));
    const results: RaceResult[] = [];
    for (const worker of workers) results.push(JSON.parse((await worker.nextLine()) ?? 'null'));
    expect(results.map(({ created }) => created).sort()).toEqual(['committed', 'exists', 'exists', 'exists']);
    expect(results.reduce((sum, { granted }) => sum + granted, 0)).toBe(jobs);
    expect(results.reduce((sum, { conflicts }) => sum + conflicts, 0)).toBeGreaterThanOrEqual(names.length - 1);

    const store = openSqliteStore({ file: directory.file(), clock: sampleClock });
    const [run] = (await store.runs({}, { limit: 2, cursor: null })).items;
    const attempts = await store.attempts(run?.id ?? id(''), {});
    expect(attempts.map(({ jobIndex, number }) => [jobIndex, number])).toEqual(
      Array.from({ length: jobs }, (_, index) => [index, 1]),
    );
    expect(await store.check()).toEqual({ problems: [], runs: 1, facts: 1 + 3 * jobs });
    await store.close();
  });

  it('a file that another process holds is Locked, and opens once it lets go', async () => {
    await using directory = await temporaryDirectory();
    await writeSample(directory.file());
    await using holder = startChild(new URL('test-support/hold-lock.ts', import.meta.url), [directory.file()]);
    expect(await holder.nextLine()).toBe('locked');
    const open = () => openSqliteStore({ file: directory.file(), clock: sampleClock, busyTimeoutMs: 50 });
    expect(open).toThrow(expect.objectContaining({ code: 'Locked' }));
    await holder.finish();
    const store = open();
    expect((await store.check()).problems).toEqual([]);
    await store.close();
  });

  it('a process that locks the file later makes writes unavailable, changes nothing, and reads go on', async () => {
    await using directory = await temporaryDirectory();
    await writeSample(directory.file());
    const store = openSqliteStore({ file: directory.file(), clock: sampleClock, busyTimeoutMs: 50 });
    await using holder = startChild(new URL('test-support/hold-lock.ts', import.meta.url), [directory.file()]);
    expect(await holder.nextLine()).toBe('locked');
    await expect(store.heartbeat({ gapMs: 1 })).rejects.toThrow('stayed locked');
    await expect(store.touchSession(id('x'))).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect((await store.load(id('held')))?.run.state).toBe('Running');
    await holder.finish();
    expect((await store.heartbeat({ gapMs: 1_000 })).creditSequence).toBe(1);
    await store.close();
  });
});

describe('sqlite: places that cannot be written', () => {
  it('a read-only directory and a read-only file are ReadOnly', async () => {
    await using directory = await temporaryDirectory();
    await chmod(directory.path, 0o755);
    await mkdir(directory.file('closed'));
    await writeSample(directory.file('closed/store.db'));
    await mkdir(directory.file('open'));
    await writeSample(directory.file('open/store.db'));
    await chmod(directory.file('closed'), 0o555);
    await chmod(directory.file('open'), 0o777);
    await chmod(directory.file('open/store.db'), 0o444);
    for (const name of ['closed/store.db', 'closed/new.db', 'open/store.db']) {
      await using child = startChild(new URL('test-support/open-as-nobody.ts', import.meta.url), [
        directory.file(name),
      ]);
      expect([name, await child.nextLine()]).toEqual([name, 'ReadOnly']);
    }
    await chmod(directory.file('closed'), 0o755);
  });
});
