import type { JobIntent, JobIntentKind, JobRow } from '../../../machines/index.ts';
import type { SqlRow, SqlValue } from '../connection.ts';
import { flag, insertSql, json, jsonList, tableOf, updateSql } from './columns.ts';
import {
  boolean,
  booleanOrNull,
  integer,
  integerOrNull,
  list,
  parsedOrNull,
  text,
  textOrNull,
} from './read-columns.ts';

const changing = tableOf<JobRow>({
  state: (row) => row.state,
  intent_kind: (row) => row.intent?.kind ?? null,
  intent_reason: (row) => row.intent?.reason ?? null,
  terminate_by: (row) => row.terminateBy,
  reason: (row) => json(row.reason),
  failure_class: (row) => row.failureClass,
  attempt_count: (row) => row.attemptCount,
  lease_epoch: (row) => row.leaseEpoch,
  current_attempt: (row) => row.currentAttempt,
  current_lease: (row) => row.currentLease,
  workload_failures: (row) => row.workloadFailures,
  infrastructure_failures: (row) => row.infrastructureFailures,
  refusals: (row) => row.refusals,
  refused_by: (row) => jsonList(row.refusedBy),
  retry_not_before: (row) => row.retryNotBefore,
  queue_deadline_at: (row) => row.queueDeadlineAt,
  execution_source: (row) => row.executionSource,
  satisfies: (row) => flag(row.satisfies),
  outputs: (row) => jsonList(row.outputs),
  eligible_at: (row) => row.eligibleAt,
  leased_at: (row) => row.leasedAt,
  preparing_at: (row) => row.preparingAt,
  started_at: (row) => row.startedAt,
  uploading_at: (row) => row.uploadingAt,
  finished_at: (row) => row.finishedAt,
  version: (row) => row.version,
});
const fixed = tableOf<JobRow>({
  run_id: (row) => row.runId,
  idx: (row) => row.index,
  id: (row) => row.id,
  node: (row) => row.node,
  spec_digest: (row) => row.specDigest,
  required: (row) => flag(row.required),
  failure_impact: (row) => row.failureImpact,
  matrix_group: (row) => row.matrixGroup,
  capabilities: (row) => jsonList(row.capabilities),
  capability_key: (row) => capabilityKey(row.capabilities),
});
/** Columns of the run or of the plan that the queue needs beside the job. */
const copied = ['priority', 'cache_key'];

/** Equal for equal sets, so that the queue holds one list per distinct set. */
const capabilityKey = (capabilities: readonly string[]): string =>
  capabilities.length === 0 ? '[]' : JSON.stringify([...capabilities].sort());

export const insertJob = insertSql('jobs', [...fixed.names, ...changing.names, ...copied]);
export const insertJobValues = (row: JobRow, priority: number, cacheKey: string | null): SqlValue[] => [
  ...fixed.values(row),
  ...changing.values(row),
  priority,
  cacheKey,
];
export const updateJob = updateSql(
  'jobs',
  changing,
  tableOf<JobRow>({ run_id: (row) => row.runId, idx: (row) => row.index, id: (row) => row.id }),
);
export const updateJobValues = (row: JobRow): SqlValue[] => [...changing.values(row), row.runId, row.index, row.id];

export function intentFrom(row: SqlRow): JobIntent | null {
  const kind = textOrNull<JobIntentKind>(row, 'intent_kind');
  return kind === null ? null : { kind, reason: text(row, 'intent_reason') };
}

export function jobFrom(row: SqlRow): JobRow {
  return {
    kind: 'job',
    id: text(row, 'id'),
    runId: text(row, 'run_id'),
    index: integer(row, 'idx'),
    node: text(row, 'node'),
    specDigest: text(row, 'spec_digest'),
    required: boolean(row, 'required'),
    failureImpact: text(row, 'failure_impact'),
    matrixGroup: textOrNull(row, 'matrix_group'),
    capabilities: list(row, 'capabilities'),
    state: text(row, 'state'),
    intent: intentFrom(row),
    terminateBy: integerOrNull(row, 'terminate_by'),
    reason: parsedOrNull(row, 'reason'),
    failureClass: textOrNull(row, 'failure_class'),
    attemptCount: integer(row, 'attempt_count'),
    leaseEpoch: integer(row, 'lease_epoch'),
    currentAttempt: textOrNull(row, 'current_attempt'),
    currentLease: textOrNull(row, 'current_lease'),
    workloadFailures: integer(row, 'workload_failures'),
    infrastructureFailures: integer(row, 'infrastructure_failures'),
    refusals: integer(row, 'refusals'),
    refusedBy: list(row, 'refused_by'),
    retryNotBefore: integerOrNull(row, 'retry_not_before'),
    queueDeadlineAt: integerOrNull(row, 'queue_deadline_at'),
    executionSource: textOrNull(row, 'execution_source'),
    satisfies: booleanOrNull(row, 'satisfies'),
    outputs: list(row, 'outputs'),
    eligibleAt: integerOrNull(row, 'eligible_at'),
    leasedAt: integerOrNull(row, 'leased_at'),
    preparingAt: integerOrNull(row, 'preparing_at'),
    startedAt: integerOrNull(row, 'started_at'),
    uploadingAt: integerOrNull(row, 'uploading_at'),
    finishedAt: integerOrNull(row, 'finished_at'),
    version: integer(row, 'version'),
  };
}
