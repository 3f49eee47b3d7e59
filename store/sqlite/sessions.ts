/** Runner sessions, and the leases bound to them. */
import type { SessionId, Timestamp } from '../../machines/index.ts';
import type { Renewal, RenewalOutcome, Store } from '../contract.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { intentFrom } from './rows/job-rows.ts';
import { leaseFrom } from './rows/lease-rows.ts';
import { integer, integerOrNull, text } from './rows/read-columns.ts';
import { insertSession, sessionFrom, sessionValues, updateSession, updateSessionValues } from './rows/session-rows.ts';

const live = `state IN ('Active','Draining')`;
const replace = `UPDATE runner_sessions SET state = 'Replaced', reason = ?, ended_at = ?, version = version + 1
  WHERE runner = ? AND ${live} RETURNING id`;
/** No credit and no renewal brings them back: the host of this session is gone. */
const expireHeld = `UPDATE leases SET expires_at = ?1 WHERE session = ?2 AND state = 'Held' AND expires_at > ?1`;
const currentLease = `SELECT leases.state, epoch, session, leases.expires_at, ttl_ms, terminate_by, intent_kind, intent_reason
  FROM leases JOIN jobs ON jobs.run_id = leases.run_id AND jobs.idx = leases.job_index AND jobs.current_lease = leases.id
  WHERE leases.id = ? AND leases.run_id = ? AND jobs.id = ? AND jobs.current_attempt = ?`;
const renewLease = `UPDATE leases SET expires_at = max(expires_at, ?), renewed_at = ?, credit_ms = 0 WHERE id = ?`;

type SessionMethods = Pick<
  Store,
  'renew' | 'openSession' | 'updateSession' | 'touchSession' | 'session' | 'sessions' | 'sessionLeases'
>;

export function sessionMethods({ connection, clock }: SqliteContext): SessionMethods {
  return {
    async renew(renewals) {
      if (renewals.length === 0) return [];
      return connection.write(() => {
        const now = clock.now();
        return renewals.map((renewal) => renewOne(connection, renewal, now));
      });
    },
    async openSession(session) {
      return connection.write(() => {
        if (connection.get('SELECT 1 FROM runner_sessions WHERE id = ?', session.id) !== undefined)
          return { replaced: [] };
        const rows = connection.all(replace, `replaced by session ${session.id}`, clock.now(), session.runner);
        connection.run(insertSession, ...sessionValues(session));
        return { replaced: rows.map((row) => text<SessionId>(row, 'id')).sort() };
      });
    },
    async updateSession(session) {
      return connection.write(() => {
        if (connection.run(updateSession, ...updateSessionValues(session)) === 0) return 'conflict';
        if (session.state === 'Closed') connection.run(expireHeld, clock.now(), session.id);
        return 'committed';
      });
    },
    async touchSession(session) {
      connection.writeLightly(() => {
        connection.run(`UPDATE runner_sessions SET last_seen_at = ? WHERE id = ? AND ${live}`, clock.now(), session);
      });
    },
    async session(id) {
      const row = connection.get('SELECT * FROM runner_sessions WHERE id = ?', id);
      return row === undefined ? null : sessionFrom(row);
    },
    async sessions(filter) {
      const where = filter.live ? `WHERE ${live}` : '';
      return connection.map(sessionFrom, `SELECT * FROM runner_sessions ${where} ORDER BY opened_at, id`);
    },
    async sessionLeases(session) {
      return connection.map(
        leaseFrom,
        `SELECT * FROM leases WHERE session = ? AND state IN ('Offered','Held') ORDER BY run_id, job_index`,
        session,
      );
    },
  };
}

function renewOne(connection: Connection, renewal: Renewal, now: Timestamp): RenewalOutcome {
  const row = connection.get(currentLease, renewal.lease, renewal.runId, renewal.jobId, renewal.attempt);
  if (row === undefined || text(row, 'state') !== 'Held') return { kind: 'stale' };
  if (integer(row, 'epoch') !== renewal.epoch || text(row, 'session') !== renewal.session) return { kind: 'stale' };
  const expiresAt = integer(row, 'expires_at');
  if (expiresAt <= now) return { kind: 'expired' };
  const asked = Math.min(now + integer(row, 'ttl_ms'), integerOrNull(row, 'terminate_by') ?? Number.MAX_SAFE_INTEGER);
  connection.run(renewLease, asked, now, renewal.lease);
  return { kind: 'renewed', expiresAt: Math.max(expiresAt, asked), intent: intentFrom(row) };
}
