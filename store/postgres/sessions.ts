/** Runner sessions, and the leases bound to them. */
import type { LeaseRow, SessionId, SessionRow } from '../../machines/index.ts';
import type { RenewalOutcome, Store } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { SqlRow, SqlValue, Statement } from './database.ts';
import { executeRepeatedly } from './execute-repeatedly.ts';
import { jsonText } from './json-text.ts';
import { leaseColumns, rowAs, rowsAs, sessionColumns } from './select-lists.ts';

type SessionMethods = Pick<
  Store,
  'renew' | 'openSession' | 'updateSession' | 'touchSession' | 'session' | 'sessions' | 'sessionLeases'
>;

const renewAll: Statement = {
  name: 'renew_v1',
  text: 'SELECT place, kind, expires_at AS "expiresAt", intent, now_ms AS now FROM forgeyard.renew_v1($1, $2)',
};
const open: Statement = {
  name: 'open_session_v1',
  text: 'SELECT replaced FROM forgeyard.open_session_v1($1, $2) AS replaced ORDER BY replaced COLLATE "C"',
};
const update: Statement = {
  name: 'update_session_v1',
  text: 'SELECT forgeyard.update_session_v1($1, $2) AS updated',
};
const touch: Statement = { name: 'touch_session_v1', text: 'SELECT forgeyard.touch_session_v1($1, $2)' };
const byId: Statement = {
  name: 'session',
  text: `SELECT ${sessionColumns} FROM forgeyard.runner_sessions WHERE id = $1`,
};
const all: Statement = {
  name: 'sessions',
  text: `SELECT ${sessionColumns} FROM forgeyard.runner_sessions ORDER BY opened_at, id`,
};
const live: Statement = {
  name: 'live_sessions',
  text: `SELECT ${sessionColumns} FROM forgeyard.runner_sessions WHERE ended_at IS NULL ORDER BY opened_at, id`,
};
const liveLeases: Statement = {
  name: 'session_leases',
  text: `SELECT ${leaseColumns} FROM forgeyard.leases WHERE session = $1 AND finished_at IS NULL ORDER BY run_id, job_index`,
};

export function sessionMethods({ database, clock }: PostgresContext): SessionMethods {
  const execute = (statement: Statement, ...values: readonly SqlValue[]): Promise<readonly SqlRow[]> =>
    executeRepeatedly(database, statement, [clock.fixed(), ...values]);
  return {
    async renew(renewals) {
      if (renewals.length === 0) return [];
      const placed = renewals.map((renewal, place) => ({ place, ...renewal }));
      // Locks are taken in this order, so that two renewals never wait for each other.
      placed.sort((a, b) => compare(a.runId, b.runId) || compare(a.lease, b.lease));
      const rows = await execute(renewAll, jsonText(placed));
      const outcomes = new Map(rows.map((row) => [Number(row.place), renewalFrom(row)]));
      clock.observe(Number(rows[0]?.now));
      return renewals.map((_, place) => outcomes.get(place) ?? { kind: 'stale' });
    },
    async openSession(session) {
      const rows = await execute(open, jsonText(session));
      return { replaced: rows.map((row) => row.replaced as SessionId) };
    },
    async updateSession(session) {
      const [row] = await execute(update, jsonText(session));
      return row?.updated === true ? 'committed' : 'conflict';
    },
    async touchSession(session) {
      await execute(touch, session);
    },
    async session(id) {
      const [row] = await database.query(byId, [id]);
      return row === undefined ? null : rowAs<SessionRow>(row);
    },
    async sessions(filter) {
      return rowsAs<SessionRow>(await database.query(filter.live ? live : all));
    },
    async sessionLeases(session) {
      return rowsAs<LeaseRow>(await database.query(liveLeases, [session]));
    },
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function renewalFrom(row: SqlRow): RenewalOutcome {
  const { kind, expiresAt, intent } = rowAs<Extract<RenewalOutcome, { kind: 'renewed' }>>(row);
  return kind === 'renewed' ? { kind, expiresAt, intent } : { kind };
}
