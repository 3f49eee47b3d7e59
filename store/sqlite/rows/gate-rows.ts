import type { GateRow } from '../../../machines/index.ts';
import type { SqlRow, SqlValue } from '../connection.ts';
import { insertSql, json, tableOf, updateSql } from './columns.ts';
import { integer, integerOrNull, parsedOrNull, text, textOrNull } from './read-columns.ts';

const changing = tableOf<GateRow>({
  state: (row) => row.state,
  reason: (row) => json(row.reason),
  opened_at: (row) => row.openedAt,
  expires_at: (row) => row.expiresAt,
  decided_by: (row) => row.decidedBy,
  finished_at: (row) => row.finishedAt,
  version: (row) => row.version,
});
const key = tableOf<GateRow>({ run_id: (row) => row.runId, idx: (row) => row.index, id: (row) => row.id });

export const insertGate = insertSql('gates', [...key.names, 'node', ...changing.names]);
export const insertGateValues = (row: GateRow): SqlValue[] => [...key.values(row), row.node, ...changing.values(row)];
export const updateGate = updateSql('gates', changing, key);
export const updateGateValues = (row: GateRow): SqlValue[] => [...changing.values(row), ...key.values(row)];

export function gateFrom(row: SqlRow): GateRow {
  return {
    kind: 'gate',
    id: text(row, 'id'),
    runId: text(row, 'run_id'),
    index: integer(row, 'idx'),
    node: text(row, 'node'),
    state: text(row, 'state'),
    reason: parsedOrNull(row, 'reason'),
    openedAt: integerOrNull(row, 'opened_at'),
    expiresAt: integerOrNull(row, 'expires_at'),
    decidedBy: textOrNull(row, 'decided_by'),
    finishedAt: integerOrNull(row, 'finished_at'),
    version: integer(row, 'version'),
  };
}
