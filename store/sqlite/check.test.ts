/** `check` must find damage that no single constraint can see. Each case damages a sound file in one way. */
import { copyFile } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSqliteStore } from './index.ts';
import type { TemporaryDirectory } from './test-support/sample-file.ts';
import { sampleClock, temporaryDirectory, writeSample } from './test-support/sample-file.ts';

let directory: TemporaryDirectory;
beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeSample(directory.file());
});
afterAll(() => directory[Symbol.asyncDispose]());

async function problemsAfter(damage: string): Promise<readonly string[]> {
  const file = directory.file('damaged.db');
  await copyFile(directory.file(), file);
  const database = new DatabaseSync(file, { enableForeignKeyConstraints: false });
  const triggers = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).all();
  database.exec(triggers.map(({ name }) => `DROP TRIGGER ${name};`).join(''));
  database.exec(damage);
  database.close();
  const store = openSqliteStore({ file, clock: sampleClock });
  const { problems } = await store.check();
  await store.close();
  return problems.map(({ code, entity }) => `${code} ${entity}`);
}

describe('sqlite: check', () => {
  it('finds nothing in a sound file', async () => {
    expect(await problemsAfter('SELECT 1')).toEqual([]);
  });

  const job = 'held.job-0';
  it.each<[string, string, readonly string[]]>([
    ['a missing fact', `DELETE FROM events WHERE run_id = 'held' AND sequence = 2`, ['FactsHaveGaps held']],
    ['a missing last fact', `DELETE FROM events WHERE run_id = 'done' AND sequence >= 13`, ['SequenceDiffers done']],
    ['a sequence ahead of its facts', `UPDATE runs SET sequence = 50 WHERE id = 'held'`, ['SequenceDiffers held']],
    [
      'an ended run with open jobs',
      `UPDATE runs SET state = 'Failed', finished_at = 1 WHERE id = 'held'`,
      ['EndedRunHasOpenNode held'],
    ],
    [
      'an active job without its attempt',
      `UPDATE jobs SET current_attempt = 'nobody' WHERE id = '${job}'`,
      [`ActiveJobLacksLease ${job}`],
    ],
    [
      'a phase that the attempt does not share',
      `UPDATE attempts SET state = 'Running' WHERE run_id = 'held'`,
      [`AttemptDiffers ${job}`],
    ],
    [
      'an active job whose lease has ended',
      `UPDATE leases SET state = 'Expired', finished_at = 1 WHERE run_id = 'held'`,
      [`LeaseDiffers ${job}`, `AttemptOutlivesLease ${job}.attempt-1`],
    ],
    ['an epoch that is not the newest', `UPDATE jobs SET lease_epoch = 9 WHERE id = '${job}'`, [`NotTheNewest ${job}`]],
    [
      'a lease of another attempt',
      `UPDATE leases SET attempt_id = 'another' WHERE run_id = 'held'`,
      [`AttemptAndLeaseDisagree ${job}`],
    ],
    [
      'a live lease of an ended job',
      `UPDATE leases SET state = 'Held', finished_at = NULL WHERE run_id = 'done'`,
      ['LiveLeaseOfIdleJob done.job-0', 'AttemptOutlivesLease done.job-0.attempt-1'],
    ],
    [
      'an attempt without its lease',
      `DELETE FROM leases WHERE run_id = 'done'`,
      ['AttemptLacksLease done.job-0.attempt-1'],
    ],
    ['a batch that can never be sent', `UPDATE outbox SET is_head = 0 WHERE run_id = 'held'`, ['OutboxHead held']],
    ['two heads', `UPDATE outbox SET is_head = 1 WHERE run_id = 'held'`, ['OutboxHead held']],
    ['a priority the queue does not know', `UPDATE jobs SET priority = 9 WHERE id = '${job}'`, [`PriorityCopy ${job}`]],
    [
      'a row whose run is gone',
      `DELETE FROM runs WHERE id = 'gated'`,
      ['ForeignKey jobs', 'ForeignKey gates', 'ForeignKey events'],
    ],
  ])('%s', async (_what, damage, expected) => {
    const found = await problemsAfter(damage);
    for (const problem of expected) expect(found).toContain(problem);
  });
});
