/** The one heartbeat row of the control plane, and the credits granted for its gaps. */
import type { Credit, Store } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { Statement } from './database.ts';
import { executeRepeatedly } from './execute-repeatedly.ts';
import { rowsAs } from './select-lists.ts';

const beat: Statement = {
  name: 'heartbeat_v1',
  text: `SELECT credit_sequence AS "creditSequence", last_beat_at AS "lastBeatAt", now_ms AS now
    FROM forgeyard.heartbeat_v1($1, $2)`,
};
const creditsAfter: Statement = {
  name: 'credits',
  text: `SELECT sequence, gap_start AS "gapStart", gap_ms AS "gapMs" FROM forgeyard.credits WHERE sequence > $1 ORDER BY sequence`,
};

export function heartbeatMethods({ database, clock }: PostgresContext): Pick<Store, 'heartbeat' | 'credits'> {
  return {
    async heartbeat({ gapMs }) {
      const [row] = await executeRepeatedly(database, beat, [clock.fixed(), gapMs]);
      clock.observe(Number(row?.now));
      return { creditSequence: Number(row?.creditSequence), lastBeatAt: Number(row?.lastBeatAt) };
    },
    async credits(after) {
      return rowsAs<Credit>(await database.query(creditsAfter, [after]));
    },
  };
}
