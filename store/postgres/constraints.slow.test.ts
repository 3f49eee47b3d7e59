/** Each invariant that stands in SQL, broken with raw SQL: whoever writes to the database, the rules hold. */
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { postgresSubjects } from '../../conformance/postgres-server/index.ts';
import type { ServerBench } from './test-support/on-servers.ts';
import { onServers } from './test-support/on-servers.ts';
import { writeSample } from './test-support/sample.ts';

type Refusal = readonly [claim: string, sql: string | (() => Promise<string>), message: RegExp];

const unique = /duplicate key value violates unique constraint/;
const check = /violates check constraint/;
const foreignKey = /violates foreign key constraint/;
const ended = /has ended/;

onServers(await postgresSubjects(), 'postgres constraints', (bench) => {
  let client: pg.Client;
  beforeEach(async () => {
    await writeSample(await bench.open());
    client = await connected(bench);
  });
  afterEach(() => client.end());

  /** Takes back what it did, so that one database serves many statements. */
  const attempt = async (sql: string): Promise<number | null> => {
    await client.query('BEGIN');
    try {
      return (await client.query(sql)).rowCount;
    } finally {
      await client.query('ROLLBACK');
    }
  };
  /** Without the constraint each would change a row (the other tests of a group show that). */
  const refuses = async (refusals: readonly Refusal[]): Promise<void> => {
    for (const [claim, sql, message] of refusals) {
      const text = typeof sql === 'string' ? sql : await sql();
      const heard = await attempt(text).then(
        (changed) => `${changed} rows were changed`,
        (error: unknown) => String(error),
      );
      expect([claim, heard]).toEqual([claim, expect.stringMatching(message)]);
    }
  };
  const allows = async (sql: string): Promise<void> => expect([sql, await attempt(sql)]).toEqual([sql, 1]);

  /** Copies a row under other values for some columns. */
  const copyOf = async (table: string, where: string, changes: Readonly<Record<string, string>>): Promise<string> => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT attname AS name FROM pg_attribute WHERE attrelid = 'forgeyard.${table}'::regclass AND attnum > 0
        AND attgenerated = '' AND attidentity = ''`,
    );
    const columns = rows.map(({ name }) => name);
    const values = columns.map((column) => changes[column] ?? column);
    return `INSERT INTO forgeyard.${table} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM forgeyard.${table} WHERE ${where}`;
  };
  const oneLive = { epoch: '7', id: `'other'`, finished_at: 'NULL', expires_at: 'offer_expires_at' };
  const held = `run_id = 'held'`;

  it('identity: one of each (000 §375.1, 000 §375.5)', async () => {
    await refuses([
      ['one live lease per job', () => copyOf('leases', held, oneLive), unique],
      ['one attempt per number of a job', () => copyOf('attempts', held, { id: `'other'` }), unique],
      ['one attempt per id', () => copyOf('attempts', held, { number: '7' }), unique],
      ['one lease per epoch of a job', () => copyOf('leases', `run_id = 'done'`, { id: `'other'` }), unique],
      ['one lease per id', () => copyOf('leases', `run_id = 'done'`, { epoch: '7' }), unique],
      ['one run per request of a project', () => copyOf('runs', `id = 'held'`, { id: `'other'` }), unique],
      ['one fact per sequence of a run', () => copyOf('events', `${held} AND sequence = 1`, {}), unique],
      ['one receipt per message of a run', () => copyOf('receipts', `${held} LIMIT 1`, {}), unique],
      ['one job per place of the plan', () => copyOf('jobs', `${held} AND idx = 0`, { id: `'other'` }), unique],
      ['one job per id', () => copyOf('jobs', `${held} AND idx = 0`, { idx: '9' }), unique],
      ['one outbox row per run', () => copyOf('outbox', held, {}), unique],
      ['one heartbeat row', `INSERT INTO forgeyard.control_heartbeat VALUES (2, 1, 1)`, check],
      ['one inbox row', `INSERT INTO forgeyard.inbox VALUES ('c','e',1,NULL),('c','e',2,NULL)`, unique],
      [
        'a job belongs to a run',
        () => copyOf('jobs', `${held} AND idx = 0`, { run_id: `'no'`, id: `'x'` }),
        foreignKey,
      ],
      ['an attempt belongs to a job', () => copyOf('attempts', held, { job_index: '9', id: `'x'` }), foreignKey],
      [
        'a run belongs to a plan',
        () => copyOf('runs', `id = 'held'`, { id: `'x'`, request_id: `'x'`, plan_digest: `'no'` }),
        foreignKey,
      ],
      ['a run with jobs is not deleted', `DELETE FROM forgeyard.runs WHERE id = 'held'`, foreignKey],
    ]);
    await allows(await copyOf('leases', held, { ...oneLive, state: `'Released'`, finished_at: '1' }));
    await allows(await copyOf('attempts', held, { id: `'other'`, number: '7' }));
    await allows(await copyOf('runs', `id = 'held'`, { id: `'other'`, request_id: `'other'` }));
    await allows(await copyOf('jobs', `${held} AND idx = 0`, { id: `'other'`, idx: '9' }));
    await allows(await copyOf('events', `${held} AND sequence = 1`, { sequence: '99' }));
  });

  it('ended rows never change (000 §375.29, 000 §375.30, 000 §376.7)', async () => {
    const changes: readonly (readonly [table: string, where: string, sets: readonly string[]])[] = [
      ['runs', `id = 'done'`, [`state = 'Failed'`, 'finished_at = 7', 'priority = 7', `reason = '{}'`, 'version = 7']],
      ['jobs', `run_id = 'done'`, [`state = 'Failed'`, 'finished_at = 7', `outputs = '[]'`, 'attempt_count = 7']],
      [
        'attempts',
        `run_id = 'done'`,
        [`state = 'Lost'`, `exit = '{}'`, `log = 'x'`, `session = 'x'`, `reports = '[1]'`],
      ],
      ['leases', `run_id = 'done'`, [`state = 'Expired'`, 'expires_at = 7', `session = 'x'`, 'version = 7']],
      ['gates', `run_id = 'gated'`, [`state = 'Rejected'`, `decided_by = 'x'`, 'finished_at = 7', 'version = 7']],
      ['runner_sessions', `id = 'ended'`, ['last_seen_at = 7', 'version = 7', `capabilities = '[1]'`]],
    ];
    for (const [table, where, sets] of changes) {
      await refuses(sets.map((set) => [set, `UPDATE forgeyard.${table} SET ${set} WHERE ${where}`, ended]));
    }
    await allows(`UPDATE forgeyard.runs SET priority = 7 WHERE id = 'held'`);
    await allows(`UPDATE forgeyard.runs SET sequence = 99 WHERE id = 'done'`);
    await allows(`UPDATE forgeyard.jobs SET priority = 7 WHERE run_id = 'done'`);
    await allows(`UPDATE forgeyard.attempts SET late_result = true, version = 9 WHERE run_id = 'done'`);
    const late = `UPDATE forgeyard.attempts SET late_result = true WHERE run_id = 'done'`;
    await refuses([
      [
        'a late result is not forgotten',
        `${late}; UPDATE forgeyard.attempts SET late_result = false WHERE run_id = 'done'`,
        ended,
      ],
    ]);
  });

  it('what is written stands (000 §376.29)', async () => {
    const entry = `INSERT INTO forgeyard.audit (id, at, actor, action, entity, outcome) VALUES ('a', 1, 'u', 'x', 'e', 'allowed')`;
    await refuses([
      ['a plan', `UPDATE forgeyard.plans SET plan = '{}'`, /never changes/],
      ['a fact', `UPDATE forgeyard.events SET payload = '{}' WHERE sequence = 1`, /append-only/],
      ['an answer', `UPDATE forgeyard.receipts SET reply = '{}'`, /stands/],
      ['the audit log, changed', `${entry}; UPDATE forgeyard.audit SET actor = 'nobody'`, /append-only/],
      ['the audit log, deleted', `${entry}; DELETE FROM forgeyard.audit`, /append-only/],
    ]);
  });

  it('states and what they need', async () => {
    const job = `${held} AND idx = 0`;
    const waiting = `${held} AND idx = 1`;
    const statements = [
      `UPDATE runs SET state = 'Asleep' WHERE id = 'held'`,
      `UPDATE runs SET state = 'Failed' WHERE id = 'held'`,
      `UPDATE runs SET finished_at = 1 WHERE id = 'held'`,
      `UPDATE runs SET state = 'Cancelling' WHERE id = 'held'`,
      `UPDATE runs SET intent_kind = 'Cancelled', intent_requested_at = 1 WHERE id = 'held'`,
      `UPDATE runs SET intent_kind = 'Cancelled', state = 'Cancelling' WHERE id = 'held'`,
      `UPDATE runs SET state = 'TimedOut', finished_at = 1, intent_kind = 'Cancelled', intent_requested_at = 1 WHERE id = 'held'`,
      `UPDATE jobs SET state = 'Asleep' WHERE ${waiting}`,
      `UPDATE jobs SET state = 'Eligible', eligible_at = 1 WHERE ${job}`,
      `UPDATE jobs SET current_lease = NULL WHERE ${job}`,
      `UPDATE jobs SET current_attempt = NULL WHERE ${job}`,
      `UPDATE jobs SET state = 'Succeeded', finished_at = 1, execution_source = 'Executed' WHERE ${job}`,
      `UPDATE jobs SET state = 'Succeeded', finished_at = 1, current_attempt = NULL, current_lease = NULL WHERE ${job}`,
      `UPDATE jobs SET state = 'Failed', finished_at = 1 WHERE ${waiting}`,
      `UPDATE jobs SET state = 'Skipped', finished_at = 1 WHERE ${waiting}`,
      `UPDATE jobs SET state = 'Cancelled' WHERE ${waiting}`,
      `UPDATE jobs SET state = 'Eligible', eligible_at = NULL WHERE ${waiting}`,
      `UPDATE jobs SET state = 'RetryWaiting' WHERE ${waiting}`,
      `UPDATE jobs SET intent_kind = 'Cancelled', intent_reason = 'RunCancelled' WHERE ${waiting}`,
      `UPDATE jobs SET state = 'Leased', intent_kind = 'Cancelled', intent_reason = 'RunCancelled' WHERE ${job}`,
      `UPDATE jobs SET intent_kind = 'Cancelled' WHERE ${job}`,
      `UPDATE jobs SET refusals = -1 WHERE ${job}`,
      `INSERT INTO gates SELECT run_id, 9, 'g', node, 'Satisfied', NULL, NULL, NULL, NULL, 1, 1 FROM gates LIMIT 1`,
      `UPDATE attempts SET state = 'Failed' WHERE ${held}`,
      `UPDATE attempts SET state = 'Created' WHERE ${held}`,
      `UPDATE attempts SET number = 0 WHERE ${held}`,
      `UPDATE leases SET state = 'Released' WHERE ${held}`,
      `UPDATE leases SET state = 'Offered', expires_at = offer_expires_at + 1 WHERE ${held}`,
      `UPDATE leases SET credit_ms = -1 WHERE ${held}`,
      `UPDATE timers SET state = 'Claimed' WHERE ${held}`,
      `UPDATE timers SET ready_at = NULL WHERE ${held}`,
      `UPDATE outbox SET state = 'Publishing' WHERE ${held}`,
      `UPDATE outbox SET next = last + 1 WHERE ${held}`,
      `UPDATE job_dependencies SET upstream_index = node_index`,
      `UPDATE job_dependencies SET condition = 'sometimes'`,
      `INSERT INTO runner_sessions (id, runner, name, capabilities, slots, state, opened_at, last_seen_at, version)
        VALUES ('s', 'r', 'n', '[]', 1, 'Closed', 1, 1, 1)`,
      `INSERT INTO external_effects VALUES ('r', 'e', 'c', 'v', 'k', 'i', 'Succeeded', 1, NULL, NULL, '{}', NULL, 1, NULL, 1)`,
    ];
    await refuses(statements.map((sql): Refusal => [sql, `SET LOCAL search_path = forgeyard; ${sql}`, check]));
  });

  it('a runner has one live session', async () => {
    const session = (name: string): string => `INSERT INTO forgeyard.runner_sessions
      (id, runner, name, capabilities, slots, state, opened_at, last_seen_at, version)
      VALUES ('${name}', 'runner', 'n', '[]', 1, 'Active', 1, 1, 1);`;
    await refuses([['two', session('one') + session('two'), unique]]);
  });
});

async function connected(bench: ServerBench): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: bench.url() });
  await client.connect();
  return client;
}
