import type { SessionRow } from '../../../machines/index.ts';
import type { SqlRow, SqlValue } from '../connection.ts';
import { insertSql, jsonList, tableOf, updateSql } from './columns.ts';
import { integer, integerOrNull, list, text, textOrNull } from './read-columns.ts';

const table = tableOf<SessionRow>({
  id: (row) => row.id,
  runner: (row) => row.runner,
  name: (row) => row.name,
  host: (row) => row.host,
  capabilities: (row) => jsonList(row.capabilities),
  slots: (row) => row.slots,
  state: (row) => row.state,
  reason: (row) => row.reason,
  opened_at: (row) => row.openedAt,
  last_seen_at: (row) => row.lastSeenAt,
  ended_at: (row) => row.endedAt,
  version: (row) => row.version,
});

export const insertSession = `${insertSql('runner_sessions', table.names)} ON CONFLICT (id) DO NOTHING`;
export const sessionValues = table.values;
const expected = tableOf<SessionRow>({ id: (row) => row.id, version: (row) => row.version - 1 });
export const updateSession = `${updateSql('runner_sessions', table, expected)} AND state IN ('Active','Draining')`;
export const updateSessionValues = (row: SessionRow): SqlValue[] => [...table.values(row), ...expected.values(row)];

export function sessionFrom(row: SqlRow): SessionRow {
  return {
    id: text(row, 'id'),
    runner: text(row, 'runner'),
    name: text(row, 'name'),
    host: textOrNull(row, 'host'),
    capabilities: list(row, 'capabilities'),
    slots: integer(row, 'slots'),
    state: text(row, 'state'),
    reason: textOrNull(row, 'reason'),
    openedAt: integer(row, 'opened_at'),
    lastSeenAt: integer(row, 'last_seen_at'),
    endedAt: integerOrNull(row, 'ended_at'),
    version: integer(row, 'version'),
  };
}
