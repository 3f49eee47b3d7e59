/** Timer rows: Pending -> Claimed -> Fired; a claim that ran out counts as Pending again. */
import type { Deadline, RunId } from '../../machines/index.ts';
import type { ClaimedTimer, RunCommit, Store, TimerRow } from '../contract.ts';
import type { Connection, SqlRow } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { integer, integerOrNull, text, textOrNull } from './rows/read-columns.ts';

const setTimer = `INSERT INTO timers (run_id, key, kind, due_at, entity, attempt, lease, state, ready_at, token, version)
  VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'Pending', ?4, NULL, 1)
  ON CONFLICT (run_id, key) DO UPDATE SET kind = excluded.kind, due_at = excluded.due_at, entity = excluded.entity,
    attempt = excluded.attempt, lease = excluded.lease, state = 'Pending', ready_at = excluded.ready_at, token = NULL,
    version = version + 1`;
const cancelTimer = `UPDATE timers SET state = 'Cancelled', ready_at = NULL, token = NULL, version = version + 1
  WHERE run_id = ? AND key = ? AND state IN ('Pending','Claimed')`;
const fireTimer = `UPDATE timers SET state = 'Fired', ready_at = NULL, token = NULL, version = version + 1
  WHERE run_id = ? AND key = ? AND state = 'Claimed' AND token = ?`;
const rearmTimer = `UPDATE timers SET state = 'Pending', due_at = ?4, ready_at = ?4, token = NULL, version = version + 1
  WHERE run_id = ?1 AND key = ?2 AND state = 'Claimed' AND token = ?3`;
const claimTimer = `UPDATE timers SET state = 'Claimed', ready_at = ?, token = ?, version = version + 1 WHERE run_id = ? AND key = ?`;

export function writeTimers(connection: Connection, runId: RunId, { fired, cancel, set }: RunCommit['timers']): void {
  for (const { key, token } of fired) connection.run(fireTimer, runId, key, token);
  for (const key of cancel) connection.run(cancelTimer, runId, key);
  for (const { key, kind, dueAt, entity, attempt, lease } of set) {
    connection.run(setTimer, runId, key, kind, dueAt, entity, attempt, lease);
  }
}

function deadlineFrom(row: SqlRow): Deadline {
  return {
    key: text(row, 'key'),
    kind: text(row, 'kind'),
    dueAt: integer(row, 'due_at'),
    entity: text(row, 'entity'),
    attempt: textOrNull(row, 'attempt'),
    lease: textOrNull(row, 'lease'),
  };
}

type TimerMethods = Pick<Store, 'claimTimers' | 'settleTimers' | 'nextTimerAt' | 'timers'>;

export function timerMethods({ connection, clock }: SqliteContext): TimerMethods {
  const firstReady = (): number | null => {
    const row = connection.get(`SELECT min(ready_at) AS at FROM timers WHERE state IN ('Pending','Claimed')`);
    return row === undefined ? null : integerOrNull(row, 'at');
  };
  return {
    async claimTimers({ limit, claimMs, token }) {
      const earliest = firstReady();
      // Looking costs no write lock; most looks of an idle wheel find nothing.
      if (earliest === null || earliest > clock.now()) return [];
      return connection.writeLightly(() => {
        const now = clock.now();
        const due = connection.all(
          `SELECT * FROM timers WHERE state IN ('Pending','Claimed') AND ready_at <= ? ORDER BY ready_at, run_id, key LIMIT ?`,
          now,
          limit,
        );
        return due.map((row): ClaimedTimer => {
          const runId = text<RunId>(row, 'run_id');
          const deadline = deadlineFrom(row);
          connection.run(claimTimer, now + claimMs, token, runId, deadline.key);
          return { runId, token, deadline };
        });
      });
    },
    async settleTimers(settlements) {
      connection.writeLightly(() => {
        for (const { runId, key, token, rearmAt } of settlements) {
          if (rearmAt === null) connection.run(fireTimer, runId, key, token);
          else connection.run(rearmTimer, runId, key, token, rearmAt);
        }
      });
    },
    async nextTimerAt() {
      return firstReady();
    },
    async timers(runId) {
      return connection.all('SELECT * FROM timers WHERE run_id = ? ORDER BY due_at, key', runId).map(
        (row): TimerRow => ({
          runId,
          key: text(row, 'key'),
          kind: text(row, 'kind'),
          dueAt: integer(row, 'due_at'),
          state: text(row, 'state'),
        }),
      );
    },
  };
}
