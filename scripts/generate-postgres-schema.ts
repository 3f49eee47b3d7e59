/**
 * Writes store/postgres/schema.txt: what the migrations make, as a real server describes it.
 * With `--check` it writes nothing and exits 1 when the file differs.
 */
import { startPostgresServer } from '../conformance/postgres-server/index.ts';
import { dumpPostgresSchema, migratePostgres } from '../store/postgres/index.ts';
import { writeOrCheck } from './lib/write-or-check.ts';

await using server = await startPostgresServer({ on: 'memory' });
const url = server.url('postgres');
await migratePostgres(url);
const files = [{ path: 'store/postgres/schema.txt', text: await dumpPostgresSchema(url) }];

process.exitCode = await writeOrCheck('generate-postgres-schema', files, process.argv.includes('--check'));
