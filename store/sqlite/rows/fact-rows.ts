import type { StoredFact } from '../../contract.ts';
import type { SqlRow } from '../connection.ts';
import { insertSql, json, tableOf } from './columns.ts';
import { integer, parsed, text, textOrNull } from './read-columns.ts';

const table = tableOf<StoredFact>({
  run_id: (row) => row.runId,
  sequence: (row) => row.sequence,
  event_id: (row) => row.eventId,
  schema_version: (row) => row.schemaVersion,
  type: (row) => row.fact.type,
  entity: (row) => row.fact.entity,
  entity_id: (row) => (row.fact.entity === 'run' ? row.runId : row.fact.id),
  at: (row) => row.occurredAt,
  actor: (row) => row.actor,
  correlation: (row) => row.correlationId,
  causation: (row) => row.causationId,
  payload: (row) => json(row.fact),
});

export const insertFact = insertSql('events', table.names);
export const factValues = table.values;

export function factFrom(row: SqlRow): StoredFact {
  return {
    eventId: text(row, 'event_id'),
    schemaVersion: integer(row, 'schema_version'),
    runId: text(row, 'run_id'),
    sequence: integer(row, 'sequence'),
    occurredAt: integer(row, 'at'),
    actor: text(row, 'actor'),
    correlationId: text(row, 'correlation'),
    causationId: textOrNull(row, 'causation'),
    fact: parsed(row, 'payload'),
  };
}
