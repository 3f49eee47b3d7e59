/** Each invariant that stands in SQL, broken with raw SQL: whoever writes to the file, the rules hold. */
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TemporaryDirectory } from './test-support/sample-file.ts';
import { temporaryDirectory, writeSample } from './test-support/sample-file.ts';

let directory: TemporaryDirectory;
let database: DatabaseSync;

beforeAll(async () => {
  directory = await temporaryDirectory();
  await writeSample(directory.file());
  database = new DatabaseSync(directory.file(), { enableForeignKeyConstraints: true });
});
afterAll(async () => {
  database.close();
  await directory[Symbol.asyncDispose]();
});

/** The statement must change nothing; without the constraint it would change a row (checked by `allowed`). */
function refuses(sql: string, message: RegExp): void {
  database.exec('BEGIN');
  try {
    expect(() => database.exec(sql)).toThrow(message);
  } finally {
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

function allows(sql: string): void {
  database.exec('BEGIN');
  try {
    expect(Number(database.prepare(sql).run().changes)).toBe(1);
  } finally {
    database.exec('ROLLBACK');
  }
}

/** Copies a row under other values for some columns. */
function copyOf(table: string, where: string, changes: Readonly<Record<string, string>>): string {
  const columns = database
    .prepare(`SELECT name FROM pragma_table_info('${table}')`)
    .all()
    .map((row) => String(row.name));
  return `INSERT INTO ${table} (${columns.join(', ')})
    SELECT ${columns.map((column) => changes[column] ?? column).join(', ')} FROM ${table} WHERE ${where}`;
}

const unique = /UNIQUE constraint failed/;
const check = /CHECK constraint failed/;
const foreignKey = /FOREIGN KEY constraint failed/;
const oneLive = { epoch: '7', id: `'other'`, finished_at: 'NULL', expires_at: 'offer_expires_at' };

describe('sqlite constraints: identity', () => {
  it.each<[string, () => string, RegExp]>([
    ['one live lease per job (000 §375.5)', () => copyOf('leases', `run_id = 'held'`, oneLive), unique],
    ['one attempt per number of a job', () => copyOf('attempts', `run_id = 'held'`, { id: `'other'` }), unique],
    ['one lease per epoch of a job', () => copyOf('leases', `run_id = 'done'`, { id: `'other'` }), unique],
    ['one run per request of a project (000 §375.1)', () => copyOf('runs', `id = 'held'`, { id: `'other'` }), unique],
    [
      'one fact per sequence of a run',
      () => copyOf('events', `run_id = 'held' AND sequence = 1`, { position: 'NULL' }),
      unique,
    ],
    ['one receipt per message of a run', () => copyOf('receipts', `run_id = 'held' LIMIT 1`, {}), unique],
    ['one job per place of the plan', () => copyOf('jobs', `run_id = 'held' AND idx = 0`, { id: `'other'` }), unique],
    ['one job per id', () => copyOf('jobs', `run_id = 'held' AND idx = 0`, { idx: '9' }), unique],
    ['one heartbeat row', () => `INSERT INTO control_heartbeat VALUES (2, 1, 1)`, check],
    [
      'one inbox row per consumer and event',
      () => `INSERT INTO inbox VALUES ('c','e',1,NULL),('c','e',2,NULL)`,
      unique,
    ],
    [
      'a job belongs to a run',
      () => copyOf('jobs', `run_id = 'held' AND idx = 0`, { run_id: `'no'`, id: `'x'` }),
      foreignKey,
    ],
    [
      'an attempt belongs to a job',
      () => copyOf('attempts', `run_id = 'held'`, { job_index: '9', id: `'x'` }),
      foreignKey,
    ],
    [
      'a run belongs to a plan',
      () => copyOf('runs', `id = 'held'`, { id: `'x'`, request_id: `'x'`, plan_digest: `'no'` }),
      foreignKey,
    ],
    ['a run with history is not deleted', () => `DELETE FROM runs WHERE id = 'held'`, foreignKey],
  ])('%s', (_claim, sql, message) => refuses(sql(), message));

  it('the copies above are refused for what they repeat, not for how they are made', () => {
    allows(copyOf('leases', `run_id = 'held'`, { ...oneLive, state: `'Released'`, finished_at: '1' }));
    allows(copyOf('attempts', `run_id = 'held'`, { id: `'other'`, number: '7' }));
    allows(copyOf('runs', `id = 'held'`, { id: `'other'`, request_id: `'other'` }));
    allows(copyOf('jobs', `run_id = 'held' AND idx = 0`, { id: `'other'`, idx: '9' }));
    allows(copyOf('events', `run_id = 'held' AND sequence = 1`, { position: 'NULL', sequence: '99' }));
  });
});

describe('sqlite constraints: ended rows (000 §375.29, 000 §375.30, 000 §376.7)', () => {
  it.each([
    [
      'runs',
      `id = 'done'`,
      ['state', 'finished_at', 'priority', 'reason', 'plan_digest', 'version', 'credit_sequence'],
    ],
    [
      'jobs',
      `run_id = 'done'`,
      ['state', 'finished_at', 'outputs', 'reason', 'attempt_count', 'version', 'lease_epoch'],
    ],
    ['attempts', `run_id = 'done'`, ['state', 'exit', 'log', 'outputs', 'reports', 'session', 'finished_at']],
    ['leases', `run_id = 'done'`, ['state', 'expires_at', 'session', 'finished_at', 'version']],
    ['gates', `run_id = 'gated'`, ['state', 'decided_by', 'finished_at', 'version']],
    ['runner_sessions', `id = 'ended'`, ['state', 'last_seen_at', 'version', 'capabilities']],
  ] as const)('%s', (table, where, columns) => {
    for (const column of columns) refuses(`UPDATE ${table} SET ${column} = 7 WHERE ${where}`, /has ended/);
  });

  it('the same columns of a living row may change, and so may what an end does not settle', () => {
    allows(`UPDATE runs SET priority = 7 WHERE id = 'held'`);
    allows(`UPDATE runs SET sequence = 99 WHERE id = 'done'`);
    allows(`UPDATE jobs SET priority = 7 WHERE run_id = 'done'`);
    allows(`UPDATE attempts SET late_result = 1, version = 9 WHERE run_id = 'done'`);
  });

  it('a late result is not forgotten', () => {
    database.exec('BEGIN');
    database.exec(`UPDATE attempts SET late_result = 1 WHERE run_id = 'done'`);
    expect(() => database.exec(`UPDATE attempts SET late_result = 0 WHERE run_id = 'done'`)).toThrow(/has ended/);
    database.exec('ROLLBACK');
  });
});

describe('sqlite constraints: what is written stands (000 §376.29)', () => {
  it.each([
    [`UPDATE plans SET json = '{}'`, /never changes/],
    [`UPDATE events SET payload = '{}' WHERE sequence = 1`, /append-only/],
    [`UPDATE receipts SET reply = '{}'`, /stands/],
  ] as const)('%s', (sql, message) => refuses(sql, message));

  it('the audit log is neither changed nor deleted from', () => {
    const entry = `INSERT INTO audit (id, at, actor, action, entity, outcome) VALUES ('a', 1, 'u', 'x', 'e', 'allowed')`;
    refuses(`${entry}; UPDATE audit SET actor = 'nobody'`, /append-only/);
    refuses(`${entry}; DELETE FROM audit`, /append-only/);
  });
});

describe('sqlite constraints: states and what they need', () => {
  const held = `run_id = 'held' AND idx = 0`;
  const waiting = `run_id = 'held' AND idx = 1`;
  it.each([
    [`UPDATE runs SET state = 'Asleep' WHERE id = 'held'`],
    [`UPDATE runs SET state = 'Failed' WHERE id = 'held'`],
    [`UPDATE runs SET finished_at = 1 WHERE id = 'held'`],
    [`UPDATE runs SET state = 'Cancelling' WHERE id = 'held'`],
    [`UPDATE runs SET intent_kind = 'Cancelled', intent_requested_at = 1 WHERE id = 'held'`],
    [`UPDATE runs SET intent_kind = 'Cancelled', state = 'Cancelling' WHERE id = 'held'`],
    [
      `UPDATE runs SET state = 'TimedOut', finished_at = 1, intent_kind = 'Cancelled', intent_requested_at = 1 WHERE id = 'held'`,
    ],
    [`UPDATE jobs SET state = 'Asleep' WHERE ${waiting}`],
    [`UPDATE jobs SET state = 'Eligible', eligible_at = 1 WHERE ${held}`],
    [`UPDATE jobs SET current_lease = NULL WHERE ${held}`],
    [`UPDATE jobs SET current_attempt = NULL WHERE ${held}`],
    [`UPDATE jobs SET state = 'Succeeded', finished_at = 1, execution_source = 'Executed' WHERE ${held}`],
    [
      `UPDATE jobs SET state = 'Succeeded', finished_at = 1, current_attempt = NULL, current_lease = NULL WHERE ${held}`,
    ],
    [`UPDATE jobs SET state = 'Failed', finished_at = 1 WHERE ${waiting}`],
    [`UPDATE jobs SET state = 'Skipped', finished_at = 1 WHERE ${waiting}`],
    [`UPDATE jobs SET state = 'Cancelled' WHERE ${waiting}`],
    [`UPDATE jobs SET state = 'Eligible', eligible_at = NULL WHERE ${waiting}`],
    [`UPDATE jobs SET state = 'RetryWaiting' WHERE ${waiting}`],
    [`UPDATE jobs SET intent_kind = 'Cancelled', intent_reason = 'RunCancelled' WHERE ${waiting}`],
    [`UPDATE jobs SET state = 'Leased', intent_kind = 'Cancelled', intent_reason = 'RunCancelled' WHERE ${held}`],
    [`UPDATE jobs SET intent_kind = 'Cancelled' WHERE ${held}`],
    [`INSERT INTO gates SELECT run_id, 9, 'g', node, 'Satisfied', NULL, 1, NULL, NULL, NULL, 1 FROM gates`],
    [`UPDATE attempts SET state = 'Failed' WHERE run_id = 'held'`],
    [`UPDATE attempts SET state = 'Created' WHERE run_id = 'held'`],
    [`UPDATE attempts SET number = 0 WHERE run_id = 'held'`],
    [`UPDATE leases SET state = 'Released' WHERE run_id = 'held'`],
    [`UPDATE leases SET state = 'Offered', expires_at = offer_expires_at + 1 WHERE run_id = 'held'`],
    [`UPDATE leases SET credit_ms = -1 WHERE run_id = 'held'`],
    [`UPDATE timers SET state = 'Claimed' WHERE run_id = 'held'`],
    [`UPDATE timers SET ready_at = NULL WHERE run_id = 'held'`],
    [`UPDATE outbox SET state = 'Publishing' WHERE run_id = 'held'`],
    [`UPDATE job_dependencies SET upstream_index = node_index`],
    [`UPDATE job_dependencies SET condition = 'sometimes'`],
    [
      `INSERT INTO runner_sessions (id, runner, name, capabilities, slots, state, opened_at, last_seen_at, version)
      VALUES ('s', 'r', 'n', '[]', 1, 'Closed', 1, 1, 1)`,
    ],
    [
      `INSERT INTO external_effects VALUES ('r', 'e', 'c', 'v', 'k', 'i', 'Succeeded', 1, NULL, NULL, '{}', NULL, 1, NULL, 1)`,
    ],
  ])('%s', (sql) => refuses(sql, check));

  it('types are kept: a column holds what it says', () => {
    refuses(`UPDATE runs SET priority = 'high' WHERE id = 'held'`, /cannot store TEXT value in INTEGER column/);
  });

  it('a runner has one live session', () => {
    const session = (
      name: string,
    ) => `INSERT INTO runner_sessions (id, runner, name, capabilities, slots, state, opened_at, last_seen_at,
      version) VALUES ('${name}', 'runner', 'n', '[]', 1, 'Active', 1, 1, 1);`;
    refuses(session('one') + session('two'), unique);
  });
});
