/** The outbox: one row per run that has undelivered facts, so that a run's next batch is never out before the last. */
import type { OutboxBatch, Store } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { Statement } from './database.ts';
import { executeRepeatedly } from './execute-repeatedly.ts';
import { jsonText } from './json-text.ts';
import { rowAs } from './select-lists.ts';

const claim: Statement = {
  name: 'claim_outbox_v1',
  text: `SELECT run_id AS "runId", first, last, attempts, facts
    FROM forgeyard.claim_outbox_v1($1, $2, $3, $4) ORDER BY was_ready_at, run_id COLLATE "C"`,
};
const settle: Statement = { name: 'settle_outbox_v1', text: 'SELECT forgeyard.settle_outbox_v1($1, $2)' };

export function outboxMethods({ database, clock }: PostgresContext): Pick<Store, 'claimOutbox' | 'settleOutbox'> {
  return {
    async claimOutbox({ limit, claimMs, token }) {
      const rows = await executeRepeatedly(database, claim, [clock.fixed(), limit, claimMs, token]);
      return rows.map((row) => ({ ...rowAs<Omit<OutboxBatch, 'token'>>(row), token }));
    },
    async settleOutbox(settlements) {
      if (settlements.length === 0) return;
      // Locks are taken in this order, so that two settlements never wait for each other.
      const sorted = [...settlements].sort((a, b) => (a.runId < b.runId ? -1 : 1));
      await executeRepeatedly(database, settle, [clock.fixed(), jsonText(sorted)]);
    },
  };
}
