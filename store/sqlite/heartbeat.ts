/** The one heartbeat row of the control plane, and the credits granted for its gaps. */
import type { Timestamp } from '../../machines/index.ts';
import type { Credit, Store } from '../contract.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { integer } from './rows/read-columns.ts';

interface Heartbeat {
  readonly lastBeatAt: Timestamp;
  readonly gapMs: number;
}

export function readHeartbeat(connection: Connection): Heartbeat | null {
  const row = connection.get('SELECT last_beat_at, gap_ms FROM control_heartbeat WHERE id = 1');
  return row === undefined ? null : { lastBeatAt: integer(row, 'last_beat_at'), gapMs: integer(row, 'gap_ms') };
}

/** Whether a beat now would find a gap: nobody may be judged before the credit for it is there. */
export function isGap(heartbeat: Heartbeat | null, now: Timestamp): boolean {
  return heartbeat === null || now - heartbeat.lastBeatAt > heartbeat.gapMs;
}

export function newestCredit(connection: Connection): number {
  const row = connection.get('SELECT max(sequence) AS newest FROM credits');
  return row?.newest === null || row === undefined ? 0 : integer(row, 'newest');
}

export function heartbeatMethods({ connection, clock }: SqliteContext): Pick<Store, 'heartbeat' | 'credits'> {
  return {
    async heartbeat({ gapMs }) {
      return connection.write(() => {
        const now = clock.now();
        const previous = readHeartbeat(connection);
        const gapStart = previous?.lastBeatAt ?? now;
        const creditSequence = newestCredit(connection);
        const hasGap = isGap(previous === null ? null : { ...previous, gapMs }, now);
        if (hasGap) {
          connection.run('INSERT INTO credits VALUES (?, ?, ?)', creditSequence + 1, gapStart, now - gapStart);
        }
        const lastBeatAt = Math.max(now, gapStart);
        connection.run('INSERT OR REPLACE INTO control_heartbeat VALUES (1, ?, ?)', lastBeatAt, gapMs);
        return { creditSequence: creditSequence + (hasGap ? 1 : 0), lastBeatAt };
      });
    },
    async credits(after) {
      return connection
        .all('SELECT sequence, gap_start, gap_ms FROM credits WHERE sequence > ? ORDER BY sequence', after)
        .map(
          (row): Credit => ({
            sequence: integer(row, 'sequence'),
            gapStart: integer(row, 'gap_start'),
            gapMs: integer(row, 'gap_ms'),
          }),
        );
    },
  };
}
