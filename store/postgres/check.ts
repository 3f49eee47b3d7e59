/** `store check`: what the server says of its own constraints and indexes, then the invariants across rows, run by run. */
import type { RowProblem, RunId } from '../../machines/model/index.ts';
import { checkRows } from '../../machines/model/index.ts';
import type { Store, StoreCheck } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { Statement, Transaction } from './database.ts';
import { loadRows } from './reads.ts';

const beginSnapshot = `BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = '10min'`;

const unreliable: Statement = {
  name: 'check_catalog',
  text: `SELECT c.conrelid::regclass::text AS entity, 'the constraint ' || c.conname || ' was never validated' AS message
      FROM pg_constraint c WHERE c.connamespace = 'forgeyard'::regnamespace AND NOT c.convalidated
    UNION ALL
    SELECT i.indrelid::regclass::text, 'the index ' || i.indexrelid::regclass::text || ' is not valid'
      FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
      WHERE t.relnamespace = 'forgeyard'::regnamespace AND NOT (i.indisvalid AND i.indisready)
    UNION ALL
    SELECT t.tgrelid::regclass::text, 'the trigger ' || t.tgname || ' is switched off'
      FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
      WHERE c.relnamespace = 'forgeyard'::regnamespace AND t.tgenabled = 'D'`,
};
const allRuns: Statement = { name: 'check_runs', text: 'SELECT id FROM forgeyard.runs ORDER BY id' };
const allFacts: Statement = { name: 'check_facts', text: 'SELECT count(*) AS facts FROM forgeyard.events' };
const factsOfRun: Statement = {
  name: 'check_facts_of_run',
  text: `SELECT count(*) AS count, coalesce(min(sequence), 0) AS first, coalesce(max(sequence), 0) AS last
    FROM forgeyard.events WHERE run_id = $1`,
};
/** What is undelivered ends with the run's last fact, or that fact would never be delivered. */
const outbox: Statement = {
  name: 'check_outbox',
  text: `SELECT o.run_id AS entity FROM forgeyard.outbox o LEFT JOIN forgeyard.runs r ON r.id = o.run_id
    WHERE o.last IS DISTINCT FROM r.sequence LIMIT 20`,
};
const priorities: Statement = {
  name: 'check_priorities',
  text: `SELECT j.id AS entity FROM forgeyard.jobs j JOIN forgeyard.runs r ON r.id = j.run_id
    WHERE j.priority <> r.priority AND j.finished_at IS NULL LIMIT 20`,
};

export function checkMethods({ database }: PostgresContext): Pick<Store, 'check'> {
  return { check: () => database.transaction(beginSnapshot, checkAll) };
}

async function checkAll(transaction: Transaction): Promise<StoreCheck> {
  const runs = (await transaction.query(allRuns)).map((row) => row.id as RunId);
  const [facts] = await transaction.query(allFacts);
  const problems: RowProblem[] = (await transaction.query(unreliable)).map(({ entity, message }) => ({
    code: 'Integrity',
    entity: String(entity),
    message: String(message),
  }));
  for (const id of runs) problems.push(...(await runProblems(transaction, id)));
  const found = async (statement: Statement, code: string, message: string): Promise<void> => {
    for (const { entity } of await transaction.query(statement))
      problems.push({ code, entity: String(entity), message });
  };
  await found(outbox, 'OutboxHead', 'what is undelivered does not end with the last fact');
  await found(priorities, 'PriorityCopy', 'the job has another priority than its run');
  return { problems, runs: runs.length, facts: Number(facts?.facts) };
}

async function runProblems(transaction: Transaction, id: RunId): Promise<readonly RowProblem[]> {
  const rows = await loadRows(transaction, id, 'all');
  const [facts] = await transaction.query(factsOfRun, [id]);
  if (rows === null || facts === undefined) return [];
  const { count, first, last } = facts;
  return checkRows({ ...rows, facts: { count: Number(count), first: Number(first), last: Number(last) } });
}
