import type { RunIntentKind, RunRow } from '../../../machines/index.ts';
import type { SqlRow } from '../connection.ts';
import { insertSql, json, tableOf, updateSql } from './columns.ts';
import { integer, integerOrNull, parsed, parsedOrNull, text, textOrNull } from './read-columns.ts';

const changing = tableOf<RunRow>({
  priority: (row) => row.priority,
  state: (row) => row.state,
  intent_kind: (row) => row.intent?.kind ?? null,
  intent_requested_at: (row) => row.intent?.requestedAt ?? null,
  superseded_by: (row) => row.intent?.supersededBy ?? null,
  reason: (row) => json(row.reason),
  started_at: (row) => row.startedAt,
  finished_at: (row) => row.finishedAt,
  deadline_at: (row) => row.deadlineAt,
  credit_sequence: (row) => row.creditSequence,
  version: (row) => row.version,
  sequence: (row) => row.sequence,
});
const fixed = tableOf<RunRow>({
  id: (row) => row.id,
  project: (row) => row.project,
  tenant: (row) => row.tenant,
  name: (row) => row.name,
  plan_digest: (row) => row.planDigest,
  source: (row) => json(row.source),
  created_by: (row) => row.createdBy,
  request_id: (row) => row.requestId,
  rerun_of: (row) => row.rerunOf,
  labels: (row) => json(row.labels),
  concurrency_group: (row) => row.concurrencyGroup,
  created_at: (row) => row.createdAt,
});

export const insertRun = insertSql('runs', [...fixed.names, ...changing.names]);
export const insertRunValues = (row: RunRow) => [...fixed.values(row), ...changing.values(row)];
export const updateRun = updateSql('runs', changing, tableOf<RunRow>({ id: (row) => row.id }));
export const updateRunValues = (row: RunRow) => [...changing.values(row), row.id];

export function runFrom(row: SqlRow): RunRow {
  const kind = textOrNull<RunIntentKind>(row, 'intent_kind');
  return {
    id: text(row, 'id'),
    project: text(row, 'project'),
    tenant: text(row, 'tenant'),
    name: text(row, 'name'),
    planDigest: text(row, 'plan_digest'),
    source: parsed(row, 'source'),
    createdBy: text(row, 'created_by'),
    requestId: text(row, 'request_id'),
    rerunOf: textOrNull(row, 'rerun_of'),
    labels: parsed(row, 'labels'),
    priority: integer(row, 'priority'),
    concurrencyGroup: textOrNull(row, 'concurrency_group'),
    state: text(row, 'state'),
    intent:
      kind === null
        ? null
        : { kind, requestedAt: integer(row, 'intent_requested_at'), supersededBy: textOrNull(row, 'superseded_by') },
    reason: parsedOrNull(row, 'reason'),
    createdAt: integer(row, 'created_at'),
    startedAt: integerOrNull(row, 'started_at'),
    finishedAt: integerOrNull(row, 'finished_at'),
    deadlineAt: integerOrNull(row, 'deadline_at'),
    creditSequence: integer(row, 'credit_sequence'),
    version: integer(row, 'version'),
    sequence: integer(row, 'sequence'),
  };
}
