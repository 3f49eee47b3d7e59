import type { AttemptRow } from '../../../machines/index.ts';
import type { SqlRow } from '../connection.ts';
import { flag, json, jsonList, tableOf, upsertSql } from './columns.ts';
import { boolean, integer, integerOrNull, list, parsedOrNull, text, textOrNull } from './read-columns.ts';

const table = tableOf<AttemptRow>({
  run_id: (row) => row.runId,
  job_index: (row) => row.jobIndex,
  number: (row) => row.number,
  id: (row) => row.id,
  job_id: (row) => row.jobId,
  state: (row) => row.state,
  reason: (row) => json(row.reason),
  runner: (row) => row.runner,
  session: (row) => row.session,
  capabilities: (row) => jsonList(row.capabilities),
  spec_digest: (row) => row.specDigest,
  lease_id: (row) => row.leaseId,
  epoch: (row) => row.epoch,
  leased_at: (row) => row.leasedAt,
  preparing_at: (row) => row.preparingAt,
  started_at: (row) => row.startedAt,
  uploading_at: (row) => row.uploadingAt,
  finished_at: (row) => row.finishedAt,
  preparation_deadline_at: (row) => row.preparationDeadlineAt,
  execution_deadline_at: (row) => row.executionDeadlineAt,
  upload_deadline_at: (row) => row.uploadDeadlineAt,
  exit: (row) => json(row.exit),
  failure_class: (row) => row.failureClass,
  failure_detail: (row) => json(row.failureDetail),
  outputs: (row) => jsonList(row.outputs),
  reports: (row) => jsonList(row.reports),
  log: (row) => row.log,
  late_result: (row) => flag(row.lateResult),
  version: (row) => row.version,
});

/** By id: another attempt under a number that is taken breaks the primary key instead of replacing the first. */
export const upsertAttempt = upsertSql('attempts', table.names, ['run_id', 'job_index', 'job_id', 'number']);
export const attemptValues = table.values;

export function attemptFrom(row: SqlRow): AttemptRow {
  return {
    id: text(row, 'id'),
    runId: text(row, 'run_id'),
    jobId: text(row, 'job_id'),
    jobIndex: integer(row, 'job_index'),
    number: integer(row, 'number'),
    state: text(row, 'state'),
    reason: parsedOrNull(row, 'reason'),
    runner: text(row, 'runner'),
    session: text(row, 'session'),
    capabilities: list(row, 'capabilities'),
    specDigest: text(row, 'spec_digest'),
    leaseId: text(row, 'lease_id'),
    epoch: integer(row, 'epoch'),
    leasedAt: integer(row, 'leased_at'),
    preparingAt: integerOrNull(row, 'preparing_at'),
    startedAt: integerOrNull(row, 'started_at'),
    uploadingAt: integerOrNull(row, 'uploading_at'),
    finishedAt: integerOrNull(row, 'finished_at'),
    preparationDeadlineAt: integerOrNull(row, 'preparation_deadline_at'),
    executionDeadlineAt: integerOrNull(row, 'execution_deadline_at'),
    uploadDeadlineAt: integerOrNull(row, 'upload_deadline_at'),
    exit: parsedOrNull(row, 'exit'),
    failureClass: textOrNull(row, 'failure_class'),
    failureDetail: parsedOrNull(row, 'failure_detail'),
    outputs: list(row, 'outputs'),
    reports: list(row, 'reports'),
    log: textOrNull(row, 'log'),
    lateResult: boolean(row, 'late_result'),
    version: integer(row, 'version'),
  };
}
