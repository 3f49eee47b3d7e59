import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { createConnection } from './connection.ts';

const full = 2;
const normal = 1;

describe('sqlite: connection', () => {
  it('a light write does not wait for the disk; every other write does, also after one that failed', () => {
    const database = new DatabaseSync(':memory:');
    const connection = createConnection(database);
    database.exec('PRAGMA synchronous = FULL; CREATE TABLE t (x INTEGER UNIQUE)');
    const level = () => database.prepare('PRAGMA synchronous').get()?.synchronous;
    const seen: unknown[] = [];
    const insert = () => {
      seen.push(level());
      connection.run('INSERT INTO t VALUES (1)');
    };
    connection.writeLightly(insert);
    expect(level()).toBe(full);
    expect(() => connection.writeLightly(insert)).toThrow();
    expect(level()).toBe(full);
    expect(() => connection.write(insert)).toThrow();
    expect(seen).toEqual([normal, normal, full]);
    connection.close();
  });
});
