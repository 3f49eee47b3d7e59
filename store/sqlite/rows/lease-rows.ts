import type { LeaseRow } from '../../../machines/index.ts';
import type { SqlRow } from '../connection.ts';
import { json, tableOf, upsertSql } from './columns.ts';
import { integer, integerOrNull, parsedOrNull, text } from './read-columns.ts';

const table = tableOf<LeaseRow>({
  run_id: (row) => row.runId,
  job_index: (row) => row.jobIndex,
  epoch: (row) => row.epoch,
  id: (row) => row.id,
  job_id: (row) => row.jobId,
  attempt_id: (row) => row.attemptId,
  runner: (row) => row.runner,
  session: (row) => row.session,
  state: (row) => row.state,
  reason: (row) => json(row.reason),
  ttl_ms: (row) => row.ttlMs,
  issued_at: (row) => row.issuedAt,
  offer_expires_at: (row) => row.offerExpiresAt,
  expires_at: (row) => row.expiresAt,
  renewed_at: (row) => row.renewedAt,
  credit_ms: (row) => row.creditMs,
  finished_at: (row) => row.finishedAt,
  version: (row) => row.version,
});

/** Both rows are Held: a promise made to the runner since the commit was decided is kept (S7). */
const heldOverHeld = `leases.state = 'Held' AND excluded.state = 'Held'`;
const sessionClosed = `(SELECT state FROM runner_sessions WHERE id = leases.session) = 'Closed'`;
const promises: Readonly<Record<string, string>> = {
  expires_at: `CASE WHEN NOT (${heldOverHeld}) THEN excluded.expires_at
    WHEN ${sessionClosed} THEN min(leases.expires_at, excluded.expires_at)
    ELSE max(leases.expires_at, excluded.expires_at) END`,
  renewed_at: `CASE WHEN ${heldOverHeld} THEN max(leases.renewed_at, excluded.renewed_at) ELSE excluded.renewed_at END`,
  credit_ms: `CASE WHEN ${heldOverHeld} AND leases.renewed_at > excluded.renewed_at THEN leases.credit_ms ELSE excluded.credit_ms END`,
};

/** By id: another lease under an epoch that is taken breaks the primary key instead of replacing the first. */
export const upsertLease = upsertSql('leases', table.names, ['run_id', 'job_index', 'job_id', 'epoch'], promises);
export const leaseValues = table.values;

export function leaseFrom(row: SqlRow): LeaseRow {
  return {
    id: text(row, 'id'),
    runId: text(row, 'run_id'),
    jobId: text(row, 'job_id'),
    jobIndex: integer(row, 'job_index'),
    attemptId: text(row, 'attempt_id'),
    runner: text(row, 'runner'),
    session: text(row, 'session'),
    epoch: integer(row, 'epoch'),
    state: text(row, 'state'),
    reason: parsedOrNull(row, 'reason'),
    ttlMs: integer(row, 'ttl_ms'),
    issuedAt: integer(row, 'issued_at'),
    offerExpiresAt: integer(row, 'offer_expires_at'),
    expiresAt: integer(row, 'expires_at'),
    renewedAt: integer(row, 'renewed_at'),
    creditMs: integer(row, 'credit_ms'),
    finishedAt: integerOrNull(row, 'finished_at'),
    version: integer(row, 'version'),
  };
}
