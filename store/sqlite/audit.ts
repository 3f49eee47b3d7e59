import type { AuditEntry, Store } from '../contract.ts';
import type { Connection, SqlRow } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { integer, text, textOrNull } from './rows/read-columns.ts';

const insertAudit = `INSERT INTO audit (id, at, actor, action, run_id, entity, outcome, message) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (id) DO NOTHING`;

export function writeAudit(connection: Connection, entry: AuditEntry): void {
  const { id, at, actor, action, runId, entity, outcome, message } = entry;
  connection.run(insertAudit, id, at, actor, action, runId, entity, outcome, message);
}

export function auditMethods({ connection }: SqliteContext): Pick<Store, 'auditLog' | 'appendAudit'> {
  return {
    async auditLog({ runId, limit }) {
      const rows =
        runId === undefined
          ? connection.all('SELECT * FROM audit ORDER BY position DESC LIMIT ?', limit)
          : connection.all('SELECT * FROM audit WHERE run_id = ? ORDER BY position DESC LIMIT ?', runId, limit);
      return rows.map(auditFrom);
    },
    async appendAudit(entry) {
      connection.write(() => writeAudit(connection, entry));
    },
  };
}

function auditFrom(row: SqlRow): AuditEntry {
  return {
    id: text(row, 'id'),
    at: integer(row, 'at'),
    actor: text(row, 'actor'),
    action: text(row, 'action'),
    runId: textOrNull(row, 'run_id'),
    entity: text(row, 'entity'),
    outcome: text(row, 'outcome'),
    message: textOrNull(row, 'message'),
  };
}
