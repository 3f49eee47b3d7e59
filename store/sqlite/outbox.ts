/** Outbox rows: one per commit that has facts. Only a run's oldest undelivered one is its head, and only heads are claimed. */
import type { RunId, Timestamp } from '../../machines/index.ts';
import type { OutboxBatch, RunCommit, Store } from '../contract.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { factFrom } from './rows/fact-rows.ts';
import { integer, text } from './rows/read-columns.ts';

const enqueue = `INSERT INTO outbox (run_id, first, last, state, is_head, ready_at, token, attempts, created_at)
  VALUES (?1, ?2, ?3, 'Pending', NOT EXISTS (SELECT 1 FROM outbox WHERE run_id = ?1), ?4, NULL, 0, ?4)`;
const readyHeads =
  'SELECT run_id, first, last, attempts FROM outbox WHERE is_head = 1 AND ready_at <= ? ORDER BY ready_at, run_id LIMIT ?';
const claim = `UPDATE outbox SET state = 'Publishing', ready_at = ?, token = ?, attempts = attempts + 1 WHERE run_id = ? AND first = ?`;
const retry = `UPDATE outbox SET state = 'Failed', ready_at = ?4, token = NULL
  WHERE run_id = ?1 AND first = ?2 AND state = 'Publishing' AND token = ?3`;
const deliver = `DELETE FROM outbox WHERE run_id = ? AND first = ? AND state = 'Publishing' AND token = ?`;
const promote = `UPDATE outbox SET is_head = 1
  WHERE run_id = ?1 AND first = (SELECT first FROM outbox WHERE run_id = ?1 ORDER BY first LIMIT 1)`;
const factsBetween = 'SELECT * FROM events WHERE run_id = ? AND sequence BETWEEN ? AND ? ORDER BY sequence';

export function enqueueBatch(
  connection: Connection,
  { runId, facts, expectedSequence, run }: RunCommit,
  now: Timestamp,
): void {
  if (facts.length > 0) connection.run(enqueue, runId, expectedSequence + 1, run.sequence, now);
}

export function outboxMethods({ connection, clock }: SqliteContext): Pick<Store, 'claimOutbox' | 'settleOutbox'> {
  return {
    async claimOutbox({ limit, claimMs, token }) {
      if (connection.get(readyHeads, clock.now(), 1) === undefined) return [];
      return connection.writeLightly(() => {
        const now = clock.now();
        return connection.all(readyHeads, now, limit).map((row): OutboxBatch => {
          const runId = text<RunId>(row, 'run_id');
          const first = integer(row, 'first');
          const last = integer(row, 'last');
          connection.run(claim, now + claimMs, token, runId, first);
          const facts = connection.map(factFrom, factsBetween, runId, first, last);
          return { runId, first, last, token, attempts: integer(row, 'attempts') + 1, facts };
        });
      });
    },
    async settleOutbox(settlements) {
      connection.writeLightly(() => {
        for (const { runId, first, token, retryAt } of settlements) {
          if (retryAt !== null) connection.run(retry, runId, first, token, retryAt);
          else if (connection.run(deliver, runId, first, token) === 1) connection.run(promote, runId);
        }
      });
    },
  };
}
