/**
 * The schema as text, from the server's own catalog: what a change of a migration did is read in a diff, and the same
 * text comes from every supported server.
 */
import { withClient } from './migrate.ts';

const tables = `SELECT c.relname AS name, coalesce(' WITH (' || array_to_string(c.reloptions, ', ') || ')', '') AS options
  FROM pg_class c WHERE c.relnamespace = 'forgeyard'::regnamespace AND c.relkind = 'r' ORDER BY c.relname COLLATE "C"`;
const columns = `SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
    || CASE WHEN l.collname IS NOT NULL AND l.collname <> 'default' THEN ' COLLATE ' || quote_ident(l.collname) ELSE '' END
    || CASE WHEN a.attgenerated = 's' THEN ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
        WHEN d.adbin IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END
    || CASE WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END
    || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END AS line
  FROM pg_attribute a
    LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    LEFT JOIN pg_collation l ON l.oid = a.attcollation
  WHERE a.attrelid = ('forgeyard.' || $1)::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`;
/** Newer servers list NOT NULL among the constraints; it stands with the column already. */
const constraints = `SELECT 'CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid) AS line FROM pg_constraint
  WHERE conrelid = ('forgeyard.' || $1)::regclass AND contype IN ('p','u','f','c') ORDER BY contype, conname COLLATE "C"`;
const indexes = `SELECT indexdef AS line FROM pg_indexes WHERE schemaname = 'forgeyard' AND tablename = $1
  AND indexname NOT IN (SELECT conname FROM pg_constraint WHERE conrelid = ('forgeyard.' || $1)::regclass)
  ORDER BY indexname COLLATE "C"`;
const triggers = `SELECT pg_get_triggerdef(oid) AS line FROM pg_trigger
  WHERE tgrelid = ('forgeyard.' || $1)::regclass AND NOT tgisinternal ORDER BY tgname COLLATE "C"`;
const functions = `SELECT p.proname || '(' || pg_get_function_arguments(p.oid) || ') RETURNS ' || pg_get_function_result(p.oid)
    || coalesce(' SET ' || array_to_string(p.proconfig, ' SET '), '') || ' -- ' || md5(p.prosrc) AS line
  FROM pg_proc p WHERE p.pronamespace = 'forgeyard'::regnamespace ORDER BY p.proname COLLATE "C"`;

export async function dumpPostgresSchema(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const lines = async (sql: string, ...values: readonly string[]): Promise<readonly string[]> =>
      (await client.query<{ line: string }>(sql, [...values])).rows.map(({ line }) => line);
    const sections: string[] = [];
    for (const { name, options } of (await client.query<{ name: string; options: string }>(tables)).rows) {
      const body = [...(await lines(columns, name)), ...(await lines(constraints, name))];
      const rest = [...(await lines(indexes, name)), ...(await lines(triggers, name))];
      sections.push([`TABLE ${name}${options}`, ...body.map((line) => `  ${line}`), ...rest].join('\n'));
    }
    sections.push(['FUNCTIONS, each with the digest of its text', ...(await lines(functions))].join('\n'));
    return `${sections.join('\n\n')}\n`;
  });
}
