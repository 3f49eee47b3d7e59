/**
 * Columns under the names of the rows: what a statement answers with is a row of the core as it stands. The only place,
 * with `rowsAs`, where types are asserted; constraints of the schema are what make these assertions true.
 */
import type { SqlRow } from './database.ts';

export const rowsAs = <T>(rows: readonly SqlRow[]): readonly T[] => rows as readonly unknown[] as readonly T[];
export const rowAs = <T>(row: SqlRow): T => row as unknown as T;

/** Greater than every character an id may hold: ids with a prefix lie between it and it with this behind. */
export const afterEveryId = '\u{10FFFF}';

export const runColumns = `id, project, tenant, name, plan_digest AS "planDigest", source, created_by AS "createdBy",
  request_id AS "requestId", rerun_of AS "rerunOf", labels, priority, concurrency_group AS "concurrencyGroup", state,
  CASE WHEN intent_kind IS NOT NULL THEN json_build_object('kind', intent_kind, 'requestedAt', intent_requested_at,
    'supersededBy', superseded_by) END AS intent,
  reason, created_at AS "createdAt", started_at AS "startedAt", finished_at AS "finishedAt", deadline_at AS "deadlineAt",
  credit_sequence AS "creditSequence", version, sequence`;

export const jobColumns = `'job' AS kind, id, run_id AS "runId", idx AS "index", node, spec_digest AS "specDigest", required,
  failure_impact AS "failureImpact", matrix_group AS "matrixGroup", capabilities, state,
  CASE WHEN intent_kind IS NOT NULL THEN json_build_object('kind', intent_kind, 'reason', intent_reason) END AS intent,
  terminate_by AS "terminateBy", reason, failure_class AS "failureClass", attempt_count AS "attemptCount",
  lease_epoch AS "leaseEpoch", current_attempt AS "currentAttempt", current_lease AS "currentLease",
  workload_failures AS "workloadFailures", infrastructure_failures AS "infrastructureFailures", refusals,
  refused_by AS "refusedBy", retry_not_before AS "retryNotBefore", queue_deadline_at AS "queueDeadlineAt",
  execution_source AS "executionSource", satisfies, outputs, eligible_at AS "eligibleAt", leased_at AS "leasedAt",
  preparing_at AS "preparingAt", started_at AS "startedAt", uploading_at AS "uploadingAt", finished_at AS "finishedAt", version`;

export const gateColumns = `'gate' AS kind, id, run_id AS "runId", idx AS "index", node, state, reason, opened_at AS "openedAt",
  expires_at AS "expiresAt", decided_by AS "decidedBy", finished_at AS "finishedAt", version`;

export const attemptColumns = `id, run_id AS "runId", job_id AS "jobId", job_index AS "jobIndex", number, state, reason, runner,
  session, capabilities, spec_digest AS "specDigest", lease_id AS "leaseId", epoch, leased_at AS "leasedAt",
  preparing_at AS "preparingAt", started_at AS "startedAt", uploading_at AS "uploadingAt", finished_at AS "finishedAt",
  preparation_deadline_at AS "preparationDeadlineAt", execution_deadline_at AS "executionDeadlineAt",
  upload_deadline_at AS "uploadDeadlineAt", exit, failure_class AS "failureClass", failure_detail AS "failureDetail",
  outputs, reports, log, late_result AS "lateResult", version`;

export const leaseColumns = `id, run_id AS "runId", job_id AS "jobId", job_index AS "jobIndex", attempt_id AS "attemptId",
  runner, session, epoch, state, reason, ttl_ms AS "ttlMs", issued_at AS "issuedAt", offer_expires_at AS "offerExpiresAt",
  expires_at AS "expiresAt", renewed_at AS "renewedAt", credit_ms AS "creditMs", finished_at AS "finishedAt", version`;

export const factColumns = `event_id AS "eventId", schema_version AS "schemaVersion", run_id AS "runId", sequence,
  at AS "occurredAt", actor, correlation AS "correlationId", causation AS "causationId", payload AS fact`;

export const receiptColumns = 'message_id AS "messageId", command, outcome, code, reply, at';

export const auditColumns = 'id, at, actor, action, run_id AS "runId", entity, outcome, message';

export const sessionColumns = `id, runner, name, host, capabilities, slots, state, reason, opened_at AS "openedAt",
  last_seen_at AS "lastSeenAt", ended_at AS "endedAt", version`;

export const cacheColumns = `project, key, spec_digest AS "specDigest", outputs, run_id AS "runId", job_id AS "jobId",
  created_at AS "createdAt"`;

export const progressColumns = `id, cursor, started_at AS "startedAt", completed_at AS "completedAt", last_error AS "lastError"`;
