/** Timer rows: Pending -> Claimed -> Fired; a claim that ran out counts as Pending again. */
import type { RunId, Timestamp } from '../../machines/index.ts';
import type { ClaimedTimer, Store, TimerRow } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { SqlRow, Statement } from './database.ts';
import { executeRepeatedly } from './execute-repeatedly.ts';
import { jsonText } from './json-text.ts';
import { rowAs, rowsAs } from './select-lists.ts';

const claim: Statement = {
  name: 'claim_timers_v1',
  text: `SELECT run_id AS "runId", key, kind, due_at AS "dueAt", entity, attempt, lease
    FROM forgeyard.claim_timers_v1($1, $2, $3, $4) ORDER BY was_ready_at, run_id COLLATE "C", key COLLATE "C"`,
};
const settle: Statement = { name: 'settle_timers_v1', text: 'SELECT forgeyard.settle_timers_v1($1)' };
const earliest: Statement = {
  name: 'next_timer',
  text: 'SELECT min(ready_at) AS at FROM forgeyard.timers WHERE ready_at IS NOT NULL',
};
const ofRun: Statement = {
  name: 'timers',
  text: 'SELECT run_id AS "runId", key, kind, due_at AS "dueAt", state FROM forgeyard.timers WHERE run_id = $1 ORDER BY due_at, key',
};

type TimerMethods = Pick<Store, 'claimTimers' | 'settleTimers' | 'nextTimerAt' | 'timers'>;

export function timerMethods({ database, clock }: PostgresContext): TimerMethods {
  return {
    async claimTimers({ limit, claimMs, token }) {
      const rows = await executeRepeatedly(database, claim, [clock.fixed(), limit, claimMs, token]);
      return rows.map((row) => claimed(row, token));
    },
    async settleTimers(settlements) {
      if (settlements.length === 0) return;
      const sorted = [...settlements].sort((a, b) => compare(a.runId, b.runId) || compare(a.key, b.key));
      await executeRepeatedly(database, settle, [jsonText(sorted)]);
    },
    async nextTimerAt() {
      const [row] = await database.query(earliest);
      return (row?.at ?? null) as Timestamp | null;
    },
    async timers(runId) {
      return rowsAs<TimerRow>(await database.query(ofRun, [runId]));
    },
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function claimed({ runId, ...deadline }: SqlRow, token: string): ClaimedTimer {
  return { runId: runId as RunId, token, deadline: rowAs<ClaimedTimer['deadline']>(deadline) };
}
