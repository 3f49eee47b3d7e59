/** Files that cannot be used: one clear error each, and the file is left as it was. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { StoreUnavailable } from '../contract.ts';
import { grantStep, id } from '../suite/index.ts';
import { createConnection } from './connection.ts';
import type { StoreOpenCode } from './index.ts';
import { openSqliteStore, StoreOpenError, storeOpenCodes } from './index.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';
import { commitStep, newRun, sampleClock, temporaryDirectory, writeSample } from './test-support/sample-file.ts';

function openingFails(file: string, code: StoreOpenCode, options: { readonly pagesMax?: number } = {}): StoreOpenError {
  try {
    void openSqliteStore({ file, clock: sampleClock, busyTimeoutMs: 50, ...options }).close();
  } catch (error) {
    if (!(error instanceof StoreOpenError)) throw error;
    expect(error.code).toBe(code);
    expect(error.message).toContain(file);
    expect(error.message).toContain(storeOpenCodes[code]);
    expect(error.hint.length).toBeGreaterThan(10);
    return error;
  }
  throw new Error(`${file} was opened`);
}

function withDatabase(file: string, change: (database: DatabaseSync) => void): void {
  const database = new DatabaseSync(file);
  change(database);
  database.close();
}

describe('sqlite: opening', () => {
  it('makes a new file that carries our mark, in the mode that survives power loss', async () => {
    await using directory = await temporaryDirectory();
    const file = directory.file();
    await openSqliteStore({ file, clock: sampleClock }).close();
    withDatabase(file, (database) => {
      expect(database.prepare('PRAGMA application_id').get()).toEqual({ application_id: 0x46677964 });
      expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 });
      expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    });
    expect(await readdir(directory.path)).toEqual(['store.db']);
  });

  it('a file of another program is Foreign and is left untouched, whatever it is', async () => {
    await using directory = await temporaryDirectory();
    const files = { text: directory.file('text'), long: directory.file('long'), marked: directory.file('marked') };
    const unmarked = directory.file('unmarked');
    await writeFile(files.text, 'not a database');
    await writeFile(files.long, 'not a database\n'.repeat(1_000));
    withDatabase(files.marked, (database) => database.exec('PRAGMA application_id = 5; CREATE TABLE t (c)'));
    withDatabase(unmarked, (database) => database.exec('CREATE TABLE t (c)'));
    for (const file of [...Object.values(files), unmarked]) {
      const before = await readFile(file);
      openingFails(file, 'Foreign');
      expect((await readFile(file)).equals(before)).toBe(true);
    }
    expect((await readdir(directory.path)).length).toBe(4);
  });

  it('a file of a newer version is Newer and keeps its contents', async () => {
    await using directory = await temporaryDirectory();
    await writeSample(directory.file());
    withDatabase(directory.file(), (database) => database.exec('PRAGMA user_version = 99'));
    expect(openingFails(directory.file(), 'Newer').hint).toContain('schema 99');
    withDatabase(directory.file(), (database) => database.exec('PRAGMA user_version = 1'));
    const store = openSqliteStore({ file: directory.file(), clock: sampleClock });
    expect((await store.check()).runs).toBe(3);
    await store.close();
  });

  it('a file made by a changed migration is a ChecksumMismatch', async () => {
    await using directory = await temporaryDirectory();
    await writeSample(directory.file());
    withDatabase(directory.file(), (database) =>
      database.exec(`UPDATE schema_migrations SET checksum = 'sha256:other'`),
    );
    expect(openingFails(directory.file(), 'ChecksumMismatch').hint).toContain('initial');
  });

  it('a path below a file, a missing directory and a directory are told apart', async () => {
    await using directory = await temporaryDirectory();
    await writeFile(directory.file('text'), 'x');
    await mkdir(directory.file('folder'));
    expect(openingFails(directory.file('text/store.db'), 'NotADirectory').hint).toContain(directory.file('text'));
    openingFails(directory.file('missing/store.db'), 'NotADirectory');
    openingFails(directory.file('folder'), 'CannotOpen');
  });

  it('a damaged file is Corrupt when the damage is met at once, and an unsound check when it is deeper', async () => {
    await using directory = await temporaryDirectory();
    await writeSample(directory.file());
    await writeSample(directory.file('deep.db'));
    const bytes = await readFile(directory.file());
    // The b-tree header of the schema's root page, right behind the header of the file.
    await writeFile(
      directory.file(),
      Buffer.concat([bytes.subarray(0, 100), Buffer.alloc(300, 0xff), bytes.subarray(400)]),
    );
    openingFails(directory.file(), 'Corrupt');
    let root = 0;
    withDatabase(directory.file('deep.db'), (database) => {
      root = Number(database.prepare(`SELECT rootpage FROM sqlite_schema WHERE name = 'events'`).get()?.rootpage);
    });
    const deep = await readFile(directory.file('deep.db'));
    deep.fill(0xa5, (root - 1) * 4_096, (root - 1) * 4_096 + 200);
    await writeFile(directory.file('deep.db'), deep);
    const store = openSqliteStore({ file: directory.file('deep.db'), clock: sampleClock });
    expect((await store.check()).problems.map(({ entity }) => entity)).toContain('file');
    await store.close();
  });

  it('a truncated file is not taken for an empty one', async () => {
    await using directory = await temporaryDirectory();
    await writeSample(directory.file());
    const bytes = await readFile(directory.file());
    await writeFile(directory.file(), bytes.subarray(0, 5_000));
    openingFails(directory.file(), 'Corrupt');
    await writeFile(directory.file(), bytes.subarray(0, 50));
    openingFails(directory.file(), 'Foreign');
  });
});

describe('sqlite: a full disk', () => {
  it('while the file is made: DiskFull, and nothing is half written', async () => {
    await using directory = await temporaryDirectory();
    openingFails(directory.file(), 'DiskFull', { pagesMax: 20 });
    expect((await stat(directory.file())).size).toBe(0);
    await openSqliteStore({ file: directory.file(), clock: sampleClock }).close();
  });

  it('later: what does not fit is refused whole, what fits goes on', async () => {
    await using directory = await temporaryDirectory();
    const file = directory.file();
    await writeSample(file);
    const pages = Math.ceil((await stat(file)).size / 4_096);
    const store = openSqliteStore({ file, clock: sampleClock, pagesMax: pages + 6 });
    const big = newRun(
      'big',
      Array.from({ length: 2_000 }, () => ({})),
    );
    await expect(store.commit([big.commit])).rejects.toThrow(StoreUnavailable);
    await expect(store.commit([big.commit])).rejects.toThrow(/full/);
    expect(await store.load(id('big'))).toBe(null);

    const small = newRun('small');
    const outcomes = await store.commit([big.commit, small.commit]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'committed']);
    expect((await store.check()).problems).toEqual([]);
    await store.close();

    const roomy = openSqliteStore({ file, clock: sampleClock });
    const rows = await commitStep(roomy, big);
    await commitStep(roomy, grantStep(rows, { index: 0, now: sampleClock.now() }));
    expect((await roomy.check()).problems).toEqual([]);
    await roomy.close();
  });
});

describe('sqlite: migrations', () => {
  it('are applied in order, once, and all or none of them', async () => {
    await using directory = await temporaryDirectory();
    const file = directory.file();
    const second = { version: 2, name: 'second', sql: 'CREATE TABLE second (c INTEGER) STRICT' };
    const broken = { version: 3, name: 'broken', sql: 'CREATE TABLE third (c INTEGER) STRICT; SELECT no_such_column' };
    const connection = createConnection(new DatabaseSync(file));
    migrate(connection, file, 1);
    expect(() => migrate(connection, file, 2, [...migrations, second, broken])).toThrow(/no_such_column/);
    expect(connection.get('PRAGMA user_version')).toEqual({ user_version: 1 });
    expect(connection.all(`SELECT name FROM sqlite_schema WHERE name IN ('second', 'third')`)).toEqual([]);
    migrate(connection, file, 3, [...migrations, second]);
    migrate(connection, file, 4, [...migrations, second]);
    expect(connection.all('SELECT version, applied_at FROM schema_migrations ORDER BY version')).toEqual([
      { version: 1, applied_at: 1 },
      { version: 2, applied_at: 3 },
    ]);
    connection.close();
  });
});
