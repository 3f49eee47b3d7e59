/**
 * The servers a PostgreSQL test runs on: always the one that comes with the development packages, and each that is
 * named in FORGEYARD_TEST_POSTGRES_URLS (separated by blanks) or, in CI and without that, answers on the usual port.
 * Elsewhere one server keeps the checks short enough to be run before every commit.
 */
import { queryOnce } from './query-once.ts';
import { startPostgresServer } from './server.ts';

export interface PostgresSubject {
  /** "PostgreSQL 18.4" */
  readonly name: string;
  /** Resolves with the url of a database for administration. */
  start(): Promise<string>;
  stop(): Promise<void>;
}

const usual = ['postgres://postgres@127.0.0.1:5432/postgres'];

function usualInCi(): readonly string[] {
  if (process.env.CI !== undefined) return usual;
  console.log('PostgreSQL: only the packaged server is tested; FORGEYARD_TEST_POSTGRES_URLS names others');
  return [];
}

export async function postgresSubjects(): Promise<readonly PostgresSubject[]> {
  const named = process.env.FORGEYARD_TEST_POSTGRES_URLS;
  const urls = named === undefined ? usualInCi() : named.split(/\s+/).filter((url) => url !== '');
  const running: PostgresSubject[] = [];
  for (const url of urls) {
    try {
      running.push(runningServer(url, await versionOf(url)));
    } catch (error) {
      // One that was asked for by name must be there.
      if (named !== undefined) throw error;
      console.log(`PostgreSQL: only the packaged server is tested, nothing answers at ${new URL(url).host}`);
    }
  }
  return [packagedServer(), ...running];
}

function packagedServer(): PostgresSubject {
  let stop = async (): Promise<void> => {};
  return {
    name: 'PostgreSQL 18 (packaged)',
    async start() {
      const server = await startPostgresServer({ on: 'memory' });
      stop = () => server.close();
      return server.url('postgres');
    },
    stop: () => stop(),
  };
}

function runningServer(url: string, version: string): PostgresSubject {
  return { name: `PostgreSQL ${version} (running)`, start: async () => url, stop: async () => {} };
}

async function versionOf(url: string): Promise<string> {
  const [row] = await queryOnce(url, `SELECT current_setting('server_version') AS version`);
  return String(row?.version).split(' ')[0] ?? '';
}
