import type { AuditEntry, Store } from '../contract.ts';
import type { PostgresContext } from './context.ts';
import type { Statement } from './database.ts';
import { executeRepeatedly } from './execute-repeatedly.ts';
import { plainText } from './json-text.ts';
import { auditColumns, rowsAs } from './select-lists.ts';

const append: Statement = {
  name: 'append_audit',
  text: `INSERT INTO forgeyard.audit (id, at, actor, action, run_id, entity, outcome, message)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING`,
};
const newest: Statement = {
  name: 'audit',
  text: `SELECT ${auditColumns} FROM forgeyard.audit ORDER BY position DESC LIMIT $1`,
};
const newestOfRun: Statement = {
  name: 'audit_of_run',
  text: `SELECT ${auditColumns} FROM forgeyard.audit WHERE run_id = $2 ORDER BY position DESC LIMIT $1`,
};

export function auditMethods({ database }: PostgresContext): Pick<Store, 'auditLog' | 'appendAudit'> {
  return {
    async auditLog({ runId, limit }) {
      const rows = runId === undefined ? database.query(newest, [limit]) : database.query(newestOfRun, [limit, runId]);
      return rowsAs<AuditEntry>(await rows);
    },
    async appendAudit({ id, at, actor, action, runId, entity, outcome, message }) {
      await executeRepeatedly(database, append, [id, at, actor, action, runId, entity, outcome, plainText(message)]);
    },
  };
}
