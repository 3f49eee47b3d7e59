/** Pages of runs, newest first: built, so that only the conditions asked for are there for the planner to see. */
import type { RawBuilder } from 'kysely';
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import type { RunRow } from '../../machines/index.ts';
import type { Page, RunFilter } from '../contract.ts';
import type { Database, SqlValue } from './database.ts';
import { afterEveryId, rowsAs, runColumns } from './select-lists.ts';

/** Only compiles: the store's own connections do the talking. */
const builder = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (database) => new PostgresIntrospector(database),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

interface PageQuery {
  readonly limit: number;
  readonly cursor: string | null;
}

export async function listRuns(database: Database, filter: RunFilter, page: PageQuery): Promise<Page<RunRow>> {
  const conditions = conditionsOf(filter, page.cursor);
  const tests = conditions.map(([, condition]) => condition);
  const where = tests.length === 0 ? sql`` : sql`WHERE ${sql.join(tests, sql` AND `)}`;
  // One more than asked for tells whether there is a next page.
  const query = sql`SELECT ${sql.raw(runColumns)} FROM forgeyard.runs ${where}
    ORDER BY created_at DESC, id DESC LIMIT ${page.limit + 1}`.compile(builder);
  const name = `runs_by_${conditions.map(([each]) => each).join('_')}`;
  const values = query.parameters as readonly SqlValue[];
  const rows = rowsAs<RunRow>(await database.query({ name, text: query.sql }, values));
  const items = rows.slice(0, page.limit);
  const last = items.at(-1);
  return { items, next: last === undefined || rows.length <= page.limit ? null : `${last.createdAt}:${last.id}` };
}

type Condition = readonly [name: string, condition: RawBuilder<unknown>];

function conditionsOf({ project, states, concurrencyGroup, idPrefix }: RunFilter, cursor: string | null): Condition[] {
  const conditions: Condition[] = [];
  if (project !== undefined) conditions.push(['project', sql`project = ${project}`]);
  if (states !== undefined) conditions.push(['states', sql`state = ANY (${[...states]})`]);
  if (concurrencyGroup !== undefined) conditions.push(['group', sql`concurrency_group = ${concurrencyGroup}`]);
  if (idPrefix !== undefined) conditions.push(['prefix', sql`id >= ${idPrefix} AND id < ${idPrefix + afterEveryId}`]);
  if (cursor !== null) {
    const colon = cursor.indexOf(':');
    const [createdAt, id] = [Number(cursor.slice(0, colon)), cursor.slice(colon + 1)];
    conditions.push(['cursor', sql`(created_at, id) < (${createdAt}::bigint, ${id}::text)`]);
  }
  return conditions;
}
