/** What must still be true when the commit is written, by the store's clock (S2). */
import type { CommitGuard, RunId, Timestamp } from '../../machines/index.ts';
import type { Connection } from './connection.ts';
import { isGap, newestCredit, readHeartbeat } from './heartbeat.ts';
import { integer } from './rows/read-columns.ts';

export function guardHolds(connection: Connection, runId: RunId, guard: CommitGuard, now: Timestamp): boolean {
  switch (guard.kind) {
    case 'session-active':
      return (
        connection.get(`SELECT 1 FROM runner_sessions WHERE id = ? AND state = 'Active'`, guard.session) !== undefined
      );
    case 'lease-live': {
      const expiresAt = liveUntil(connection, runId, guard.lease);
      return expiresAt !== null && expiresAt > now;
    }
    case 'lease-expired': {
      const expiresAt = liveUntil(connection, runId, guard.lease);
      if (expiresAt === null || expiresAt > now) return false;
      return guard.creditSequence === newestCredit(connection) && !isGap(readHeartbeat(connection), now);
    }
  }
}

/** Null unless the lease is Offered or Held. */
function liveUntil(connection: Connection, runId: RunId, lease: string): Timestamp | null {
  const row = connection.get(
    `SELECT expires_at FROM leases WHERE id = ? AND run_id = ? AND state IN ('Offered','Held')`,
    lease,
    runId,
  );
  return row === undefined ? null : integer(row, 'expires_at');
}
