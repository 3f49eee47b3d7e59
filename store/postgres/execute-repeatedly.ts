import type { Database, SqlRow, SqlValue, Statement } from './database.ts';
import { isWorthRepeating } from './postgres-errors.ts';

const timesMax = 4;

/** A statement that lost a race (a deadlock, a unique key taken meanwhile) changed nothing, and is sent again. */
export async function executeRepeatedly(
  database: Database,
  statement: Statement,
  values: readonly SqlValue[],
): Promise<readonly SqlRow[]> {
  for (let sent = 1; ; sent += 1) {
    try {
      return await database.execute(statement, values, () => {});
    } catch (error) {
      if (sent >= timesMax || !isWorthRepeating(error)) throw error;
    }
  }
}
