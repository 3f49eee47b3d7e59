/**
 * Writes the rows of commits that have been judged: the caller holds the locks of their runs. Rows come as the JSON
 * of the rows themselves, hence the quoted names; those of runs that are not in `won` are left out.
 * The planner is told to go by index: a plan made while a table was empty must not scan it when it is full. For the same
 * reason no condition here implies that of a partial index, unless that index is the one to take.
 */
export const writeRows = `
CREATE FUNCTION forgeyard.write_rows_v1(
  won text[], jobs_wanted bigint, gates_wanted bigint, attempts_wanted bigint, leases_wanted bigint,
  new_jobs json, new_gates json, dependencies json,
  jobs json, gates json, attempts json, leases json, facts json,
  timers_set json, timers_ended json, receipts json, audit json
) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET lock_timeout = '10s' AS $$
DECLARE
  changed bigint;
BEGIN
  IF new_jobs IS NOT NULL THEN
    INSERT INTO forgeyard.jobs (run_id, idx, id, node, spec_digest, required, failure_impact, matrix_group, capabilities,
      capability_key, cache_key, priority, state, intent_kind, intent_reason, terminate_by, reason, failure_class, attempt_count,
      lease_epoch, current_attempt, current_lease, workload_failures, infrastructure_failures, refusals, refused_by,
      retry_not_before, queue_deadline_at, execution_source, satisfies, outputs, eligible_at, leased_at, preparing_at,
      started_at, uploading_at, finished_at, version)
    SELECT x."runId", x."index", x.id, x.node, x."specDigest", x.required, x."failureImpact", x."matrixGroup", x.capabilities,
      x."capabilityKey", x."cacheKey", x.priority, x.state, x.intent->>'kind', x.intent->>'reason', x."terminateBy", x.reason,
      x."failureClass", x."attemptCount", x."leaseEpoch", x."currentAttempt", x."currentLease", x."workloadFailures",
      x."infrastructureFailures", x.refusals, x."refusedBy", x."retryNotBefore", x."queueDeadlineAt", x."executionSource",
      x.satisfies, x.outputs, x."eligibleAt", x."leasedAt", x."preparingAt", x."startedAt", x."uploadingAt", x."finishedAt", x.version
    FROM json_to_recordset(new_jobs) AS x("runId" text, "index" int, id text, node text, "specDigest" text, required boolean,
      "failureImpact" text, "matrixGroup" text, capabilities json, "capabilityKey" text[], "cacheKey" text, priority int,
      state text, intent json, "terminateBy" bigint, reason json, "failureClass" text, "attemptCount" int, "leaseEpoch" int,
      "currentAttempt" text, "currentLease" text, "workloadFailures" int, "infrastructureFailures" int, refusals int,
      "refusedBy" json, "retryNotBefore" bigint, "queueDeadlineAt" bigint, "executionSource" text, satisfies boolean,
      outputs json, "eligibleAt" bigint, "leasedAt" bigint, "preparingAt" bigint, "startedAt" bigint, "uploadingAt" bigint,
      "finishedAt" bigint, version int)
    WHERE x."runId" = ANY (won);
  END IF;
  IF new_gates IS NOT NULL THEN
    INSERT INTO forgeyard.gates (run_id, idx, id, node, state, reason, opened_at, expires_at, decided_by, finished_at, version)
    SELECT x."runId", x."index", x.id, x.node, x.state, x.reason, x."openedAt", x."expiresAt", x."decidedBy", x."finishedAt", x.version
    FROM json_to_recordset(new_gates) AS x("runId" text, "index" int, id text, node text, state text, reason json,
      "openedAt" bigint, "expiresAt" bigint, "decidedBy" text, "finishedAt" bigint, version int)
    WHERE x."runId" = ANY (won);
  END IF;
  IF dependencies IS NOT NULL THEN
    INSERT INTO forgeyard.job_dependencies (run_id, node_index, place, upstream_index, condition, required)
    SELECT x."runId", x.node, x.place, x.upstream, x.condition, x.required
    FROM json_to_recordset(dependencies) AS x("runId" text, node int, place int, upstream int, condition text, required boolean)
    WHERE x."runId" = ANY (won);
  END IF;

  IF jobs IS NOT NULL THEN
    UPDATE forgeyard.jobs j SET state = x.state, intent_kind = x.intent->>'kind', intent_reason = x.intent->>'reason',
      terminate_by = x."terminateBy", reason = x.reason, failure_class = x."failureClass", attempt_count = x."attemptCount",
      lease_epoch = x."leaseEpoch", current_attempt = x."currentAttempt", current_lease = x."currentLease",
      workload_failures = x."workloadFailures", infrastructure_failures = x."infrastructureFailures", refusals = x.refusals,
      refused_by = x."refusedBy", retry_not_before = x."retryNotBefore", queue_deadline_at = x."queueDeadlineAt",
      execution_source = x."executionSource", satisfies = x.satisfies, outputs = x.outputs, eligible_at = x."eligibleAt",
      leased_at = x."leasedAt", preparing_at = x."preparingAt", started_at = x."startedAt", uploading_at = x."uploadingAt",
      finished_at = x."finishedAt", version = x.version
    FROM json_to_recordset(jobs) AS x("runId" text, "index" int, id text, state text, intent json, "terminateBy" bigint,
      reason json, "failureClass" text, "attemptCount" int, "leaseEpoch" int, "currentAttempt" text, "currentLease" text,
      "workloadFailures" int, "infrastructureFailures" int, refusals int, "refusedBy" json, "retryNotBefore" bigint,
      "queueDeadlineAt" bigint, "executionSource" text, satisfies boolean, outputs json, "eligibleAt" bigint, "leasedAt" bigint,
      "preparingAt" bigint, "startedAt" bigint, "uploadingAt" bigint, "finishedAt" bigint, version int)
    WHERE x."runId" = ANY (won) AND j.run_id = x."runId" AND j.idx = x."index" AND j.id = x.id;
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM forgeyard.expect_v1(changed, jobs_wanted, 'a job');
  END IF;
  IF gates IS NOT NULL THEN
    UPDATE forgeyard.gates g SET state = x.state, reason = x.reason, opened_at = x."openedAt", expires_at = x."expiresAt",
      decided_by = x."decidedBy", finished_at = x."finishedAt", version = x.version
    FROM json_to_recordset(gates) AS x("runId" text, "index" int, id text, state text, reason json, "openedAt" bigint,
      "expiresAt" bigint, "decidedBy" text, "finishedAt" bigint, version int)
    WHERE x."runId" = ANY (won) AND g.run_id = x."runId" AND g.idx = x."index" AND g.id = x.id;
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM forgeyard.expect_v1(changed, gates_wanted, 'a gate');
  END IF;

  IF attempts IS NOT NULL THEN
    INSERT INTO forgeyard.attempts AS a (run_id, job_index, number, id, job_id, state, reason, runner, session, capabilities,
      spec_digest, lease_id, epoch, leased_at, preparing_at, started_at, uploading_at, finished_at, preparation_deadline_at,
      execution_deadline_at, upload_deadline_at, exit, failure_class, failure_detail, outputs, reports, log, late_result, version)
    SELECT x."runId", x."jobIndex", x.number, x.id, x."jobId", x.state, x.reason, x.runner, x.session, x.capabilities,
      x."specDigest", x."leaseId", x.epoch, x."leasedAt", x."preparingAt", x."startedAt", x."uploadingAt", x."finishedAt",
      x."preparationDeadlineAt", x."executionDeadlineAt", x."uploadDeadlineAt", x.exit, x."failureClass", x."failureDetail",
      x.outputs, x.reports, x.log, x."lateResult", x.version
    FROM json_to_recordset(attempts) AS x("runId" text, "jobIndex" int, number int, id text, "jobId" text, state text,
      reason json, runner text, session text, capabilities json, "specDigest" text, "leaseId" text, epoch int,
      "leasedAt" bigint, "preparingAt" bigint, "startedAt" bigint, "uploadingAt" bigint, "finishedAt" bigint,
      "preparationDeadlineAt" bigint, "executionDeadlineAt" bigint, "uploadDeadlineAt" bigint, exit json, "failureClass" text,
      "failureDetail" json, outputs json, reports json, log text, "lateResult" boolean, version int)
    WHERE x."runId" = ANY (won)
    -- By number: another attempt under a number that is taken changes nothing, and is found missing below.
    ON CONFLICT (run_id, job_index, number) DO UPDATE SET state = excluded.state, reason = excluded.reason,
      runner = excluded.runner, session = excluded.session, capabilities = excluded.capabilities,
      spec_digest = excluded.spec_digest, lease_id = excluded.lease_id, epoch = excluded.epoch, leased_at = excluded.leased_at,
      preparing_at = excluded.preparing_at, started_at = excluded.started_at, uploading_at = excluded.uploading_at,
      finished_at = excluded.finished_at, preparation_deadline_at = excluded.preparation_deadline_at,
      execution_deadline_at = excluded.execution_deadline_at, upload_deadline_at = excluded.upload_deadline_at,
      exit = excluded.exit, failure_class = excluded.failure_class, failure_detail = excluded.failure_detail,
      outputs = excluded.outputs, reports = excluded.reports, log = excluded.log, late_result = excluded.late_result,
      version = excluded.version
    WHERE a.id = excluded.id AND a.job_id = excluded.job_id;
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM forgeyard.expect_v1(changed, attempts_wanted, 'an attempt');
  END IF;

  IF leases IS NOT NULL THEN
    -- The sender puts ended leases first: the job's next lease may stand in the same commit, and only one may be live.
    INSERT INTO forgeyard.leases AS l (run_id, job_index, epoch, id, job_id, attempt_id, runner, session, state, reason, ttl_ms,
      issued_at, offer_expires_at, expires_at, renewed_at, credit_ms, finished_at, version)
    SELECT x."runId", x."jobIndex", x.epoch, x.id, x."jobId", x."attemptId", x.runner, x.session, x.state, x.reason, x."ttlMs",
      x."issuedAt", x."offerExpiresAt", x."expiresAt", x."renewedAt", x."creditMs", x."finishedAt", x.version
    FROM json_to_recordset(leases) AS x("runId" text, "jobIndex" int, epoch int, id text, "jobId" text, "attemptId" text,
      runner text, session text, state text, reason json, "ttlMs" int, "issuedAt" bigint, "offerExpiresAt" bigint,
      "expiresAt" bigint, "renewedAt" bigint, "creditMs" bigint, "finishedAt" bigint, version int)
    WHERE x."runId" = ANY (won)
    -- Held over Held: a promise made to the runner since the commit was decided is kept (S7).
    ON CONFLICT (run_id, job_index, epoch) DO UPDATE SET attempt_id = excluded.attempt_id, runner = excluded.runner,
      session = excluded.session, state = excluded.state, reason = excluded.reason, ttl_ms = excluded.ttl_ms,
      issued_at = excluded.issued_at, offer_expires_at = excluded.offer_expires_at,
      expires_at = CASE
        WHEN NOT (l.state = 'Held' AND excluded.state = 'Held') THEN excluded.expires_at
        WHEN (SELECT s.state FROM forgeyard.runner_sessions s WHERE s.id = l.session) = 'Closed' THEN least(l.expires_at, excluded.expires_at)
        ELSE greatest(l.expires_at, excluded.expires_at) END,
      renewed_at = CASE WHEN l.state = 'Held' AND excluded.state = 'Held' THEN greatest(l.renewed_at, excluded.renewed_at)
        ELSE excluded.renewed_at END,
      credit_ms = CASE WHEN l.state = 'Held' AND excluded.state = 'Held' AND l.renewed_at > excluded.renewed_at THEN l.credit_ms
        ELSE excluded.credit_ms END,
      finished_at = excluded.finished_at, version = excluded.version
    WHERE l.id = excluded.id AND l.job_id = excluded.job_id;
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM forgeyard.expect_v1(changed, leases_wanted, 'a lease');
  END IF;

  IF facts IS NOT NULL THEN
    INSERT INTO forgeyard.events (run_id, sequence, event_id, schema_version, type, entity, entity_id, at, actor, correlation,
      causation, payload)
    SELECT x."runId", x.sequence, x."eventId", x."schemaVersion", x.type, x.entity, x."entityId", x."occurredAt",
      x.actor, x."correlationId", x."causationId", x.fact
    FROM json_to_recordset(facts) AS x("runId" text, sequence int, "eventId" text, "schemaVersion" int, type text,
      entity text, "entityId" text, "occurredAt" bigint, actor text, "correlationId" text, "causationId" text, fact json)
    WHERE x."runId" = ANY (won);
  END IF;

  IF timers_ended IS NOT NULL THEN
    UPDATE forgeyard.timers t SET state = CASE WHEN t.state = 'Claimed' AND t.token = x.token THEN 'Fired' ELSE 'Cancelled' END,
      ready_at = NULL, token = NULL, version = t.version + 1
    FROM json_to_recordset(timers_ended) AS x("runId" text, key text, token text, cancel boolean)
    WHERE x."runId" = ANY (won) AND t.run_id = x."runId" AND t.key = x.key AND t.state IN ('Pending','Claimed')
      AND (x.cancel OR (t.state = 'Claimed' AND t.token = x.token));
  END IF;
  IF timers_set IS NOT NULL THEN
    INSERT INTO forgeyard.timers AS t (run_id, key, kind, due_at, entity, attempt, lease, state, ready_at, token, version)
    SELECT x."runId", x.key, x.kind, x."dueAt", x.entity, x.attempt, x.lease, 'Pending', x."dueAt", NULL, 1
    FROM json_to_recordset(timers_set) AS x("runId" text, key text, kind text, "dueAt" bigint, entity text, attempt text, lease text)
    WHERE x."runId" = ANY (won)
    ON CONFLICT (run_id, key) DO UPDATE SET kind = excluded.kind, due_at = excluded.due_at, entity = excluded.entity,
      attempt = excluded.attempt, lease = excluded.lease, state = 'Pending', ready_at = excluded.ready_at, token = NULL,
      version = t.version + 1;
  END IF;

  IF receipts IS NOT NULL THEN
    INSERT INTO forgeyard.receipts (run_id, message_id, command, outcome, code, reply, at)
    SELECT x."runId", x."messageId", x.command, x.outcome, x.code, x.reply, x.at
    FROM json_to_recordset(receipts) AS x("runId" text, "messageId" text, command text, outcome text, code text, reply json, at bigint)
    WHERE x."runId" = ANY (won);
  END IF;
  IF audit IS NOT NULL THEN
    INSERT INTO forgeyard.audit (id, at, actor, action, run_id, entity, outcome, message)
    SELECT x.id, x.at, x.actor, x.action, x."runId", x.entity, x.outcome, x.message
    FROM json_to_recordset(audit) AS x(owner text, id text, at bigint, actor text, action text, "runId" text, entity text,
      outcome text, message text)
    WHERE x.owner = ANY (won)
    ON CONFLICT (id) DO NOTHING;
  END IF;
END $$;

CREATE FUNCTION forgeyard.expect_v1(changed bigint, wanted bigint, what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF changed <> wanted THEN
    RAISE EXCEPTION '% does not belong to its run, or changed its place', what USING ERRCODE = 'integrity_constraint_violation';
  END IF;
END $$;
`;
