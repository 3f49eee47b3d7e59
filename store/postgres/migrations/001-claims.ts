/** Renewals, sessions, heartbeat, claims: each is one statement, decided by the server's clock, rows locked in order. */
export const claimFunctions = `
CREATE FUNCTION forgeyard.renew_v1(fixed_now bigint, renewals json)
RETURNS TABLE (place int, kind text, expires_at bigint, intent json, now_ms bigint) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET lock_timeout = '5s' AS $$
#variable_conflict use_column
DECLARE
  server_now bigint;
BEGIN
  -- Locked first, so that what is judged is what is renewed. The sender sorts by run and lease.
  PERFORM 1 FROM json_to_recordset(renewals) AS x("runId" text, lease text)
    JOIN forgeyard.leases l ON l.run_id = x."runId" AND l.id = x.lease FOR NO KEY UPDATE OF l;
  server_now := forgeyard.now_v1(fixed_now);
  RETURN QUERY
  WITH judged AS MATERIALIZED (
    SELECT x.place, x."runId" AS run_id, x.lease, CASE
        WHEN j.id IS NULL OR l.state <> 'Held' OR l.epoch <> x.epoch OR l.session <> x.session THEN 'stale'
        WHEN l.expires_at <= server_now THEN 'expired'
        ELSE 'renewed' END AS kind,
      greatest(l.expires_at, least(server_now + l.ttl_ms, j.terminate_by)) AS expires_at,
      CASE WHEN j.intent_kind IS NOT NULL THEN json_build_object('kind', j.intent_kind, 'reason', j.intent_reason) END AS intent
    FROM json_to_recordset(renewals) AS x(place int, "runId" text, "jobId" text, lease text, attempt text, epoch int, session text)
    LEFT JOIN forgeyard.leases l ON l.run_id = x."runId" AND l.id = x.lease
    LEFT JOIN forgeyard.jobs j ON j.run_id = l.run_id AND j.idx = l.job_index AND j.id = x."jobId"
      AND j.current_lease = l.id AND j.current_attempt = x.attempt
  ), renewed AS (
    UPDATE forgeyard.leases l SET expires_at = judged.expires_at, renewed_at = server_now, credit_ms = 0
    FROM judged WHERE judged.kind = 'renewed' AND l.run_id = judged.run_id AND l.id = judged.lease
  )
  SELECT judged.place, judged.kind, judged.expires_at, judged.intent, server_now FROM judged;
END $$;

CREATE FUNCTION forgeyard.open_session_v1(fixed_now bigint, session json) RETURNS SETOF text LANGUAGE plpgsql
  SET lock_timeout = '5s' AS $$
DECLARE
  opened forgeyard.runner_sessions;
BEGIN
  SELECT x.id, x.runner, x.name, x.host, x.capabilities, x.slots, x.state, x.reason, x."openedAt", x."lastSeenAt", x."endedAt", x.version
  INTO opened.id, opened.runner, opened.name, opened.host, opened.capabilities, opened.slots, opened.state, opened.reason,
    opened.opened_at, opened.last_seen_at, opened.ended_at, opened.version
  FROM json_to_record(session) AS x(id text, runner text, name text, host text, capabilities json, slots int, state text,
    reason text, "openedAt" bigint, "lastSeenAt" bigint, "endedAt" bigint, version int);
  IF EXISTS (SELECT FROM forgeyard.runner_sessions s WHERE s.id = opened.id) THEN
    RETURN;
  END IF;
  RETURN QUERY
  UPDATE forgeyard.runner_sessions s SET state = 'Replaced', reason = 'replaced by session ' || opened.id,
    ended_at = forgeyard.now_v1(fixed_now), version = s.version + 1
  WHERE s.runner = opened.runner AND s.ended_at IS NULL RETURNING s.id::text;
  INSERT INTO forgeyard.runner_sessions SELECT opened.*;
END $$;

-- Closed: no credit and no renewal brings back what it held, its host is gone.
CREATE FUNCTION forgeyard.update_session_v1(fixed_now bigint, session json) RETURNS boolean LANGUAGE plpgsql
  SET enable_seqscan = off SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
  changed forgeyard.runner_sessions;
  now_ms bigint;
BEGIN
  UPDATE forgeyard.runner_sessions s SET runner = x.runner, name = x.name, host = x.host, capabilities = x.capabilities,
    slots = x.slots, state = x.state, reason = x.reason, opened_at = x."openedAt", last_seen_at = x."lastSeenAt",
    ended_at = x."endedAt", version = x.version
  FROM json_to_record(session) AS x(id text, runner text, name text, host text, capabilities json, slots int, state text,
    reason text, "openedAt" bigint, "lastSeenAt" bigint, "endedAt" bigint, version int)
  WHERE s.id = x.id AND s.version = x.version - 1 AND s.ended_at IS NULL
  RETURNING s.* INTO changed;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF changed.state = 'Closed' THEN
    PERFORM 1 FROM forgeyard.leases l WHERE l.session = changed.id AND l.finished_at IS NULL
      ORDER BY l.run_id, l.id FOR NO KEY UPDATE;
    now_ms := forgeyard.now_v1(fixed_now);
    UPDATE forgeyard.leases l SET expires_at = now_ms
    WHERE l.session = changed.id AND l.finished_at IS NULL AND l.state = 'Held' AND l.expires_at > now_ms;
  END IF;
  RETURN true;
END $$;

-- When a session was last seen may be lost in a crash: it is the one thing that need not be on disk before the answer.
CREATE FUNCTION forgeyard.touch_session_v1(fixed_now bigint, session text) RETURNS void LANGUAGE plpgsql
  SET lock_timeout = '5s' AS $$
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  UPDATE forgeyard.runner_sessions s SET last_seen_at = forgeyard.now_v1(fixed_now) WHERE s.id = session AND s.ended_at IS NULL;
END $$;

CREATE FUNCTION forgeyard.heartbeat_v1(fixed_now bigint, gap bigint)
RETURNS TABLE (credit_sequence int, last_beat_at bigint, now_ms bigint) LANGUAGE plpgsql SET lock_timeout = '5s' AS $$
#variable_conflict use_column
DECLARE
  server_now bigint := forgeyard.now_v1(fixed_now);
  previous bigint;
  newest int;
BEGIN
  INSERT INTO forgeyard.control_heartbeat AS b (id, last_beat_at, gap_ms) VALUES (1, server_now, gap) ON CONFLICT (id) DO NOTHING;
  IF FOUND THEN
    previous := NULL;
  ELSE
    SELECT b.last_beat_at INTO previous FROM forgeyard.control_heartbeat b WHERE b.id = 1 FOR UPDATE;
    server_now := forgeyard.now_v1(fixed_now);
  END IF;
  SELECT coalesce(max(c.sequence), 0) INTO newest FROM forgeyard.credits c;
  IF previous IS NULL OR server_now - previous > gap THEN
    newest := newest + 1;
    INSERT INTO forgeyard.credits (sequence, gap_start, gap_ms) VALUES (newest, coalesce(previous, server_now), server_now - coalesce(previous, server_now));
  END IF;
  UPDATE forgeyard.control_heartbeat b SET last_beat_at = greatest(server_now, previous), gap_ms = gap WHERE b.id = 1;
  RETURN QUERY SELECT newest, greatest(server_now, previous), server_now;
END $$;

-- The index keeps one ordered list per distinct set of capabilities: the few sets are found by skipping from one to the
-- next, those the session covers are read as deep as asked, and merged. All eligible jobs of a run have its priority, so
-- the list of one run is entered at the right place.
CREATE FUNCTION forgeyard.eligible_v1(offered text[], jobs_max int, only_run text)
RETURNS TABLE (run_id text, job_id text, node text, priority int, eligible_at bigint, capabilities json, refused_by json, cache_key text)
LANGUAGE plpgsql STABLE SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  run_priority int;
  capability_set text[];
BEGIN
  IF only_run IS NOT NULL THEN
    SELECT r.priority INTO run_priority FROM forgeyard.runs r WHERE r.id = only_run;
  END IF;
  SELECT j.capability_key INTO capability_set FROM forgeyard.jobs j WHERE j.queue = 'Eligible' ORDER BY j.capability_key LIMIT 1;
  WHILE capability_set IS NOT NULL LOOP
    IF capability_set <@ offered AND only_run IS NULL THEN
      RETURN QUERY
      SELECT j.run_id::text, j.id::text, j.node::text, j.priority, j.eligible_at, j.capabilities, j.refused_by, j.cache_key::text
      FROM forgeyard.jobs j WHERE j.queue = 'Eligible' AND j.capability_key = capability_set
      ORDER BY j.priority DESC, j.eligible_at, j.run_id, j.idx LIMIT jobs_max;
    ELSIF capability_set <@ offered THEN
      RETURN QUERY
      SELECT j.run_id::text, j.id::text, j.node::text, j.priority, j.eligible_at, j.capabilities, j.refused_by, j.cache_key::text
      FROM forgeyard.jobs j WHERE j.queue = 'Eligible' AND j.capability_key = capability_set
        AND j.priority = run_priority AND j.run_id = only_run
      ORDER BY j.priority DESC, j.eligible_at, j.run_id, j.idx LIMIT jobs_max;
    END IF;
    SELECT j.capability_key INTO capability_set FROM forgeyard.jobs j
    WHERE j.queue = 'Eligible' AND j.capability_key > capability_set ORDER BY j.capability_key LIMIT 1;
  END LOOP;
END $$;

CREATE FUNCTION forgeyard.claim_timers_v1(fixed_now bigint, claims_max int, claim_ms bigint, claim_token text)
RETURNS TABLE (run_id text, key text, kind text, due_at bigint, entity text, attempt text, lease text, was_ready_at bigint)
LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  server_now bigint := forgeyard.now_v1(fixed_now);
BEGIN
  RETURN QUERY
  WITH due AS MATERIALIZED (
    SELECT t.run_id, t.key, t.ready_at FROM forgeyard.timers t WHERE t.ready_at IS NOT NULL AND t.ready_at <= server_now
    ORDER BY t.ready_at, t.run_id, t.key LIMIT claims_max FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE forgeyard.timers t SET state = 'Claimed', ready_at = server_now + claim_ms, token = claim_token, version = t.version + 1
  FROM due WHERE t.run_id = due.run_id AND t.key = due.key
  RETURNING t.run_id::text, t.key::text, t.kind, t.due_at, t.entity::text, t.attempt::text, t.lease::text, due.ready_at;
END $$;

CREATE FUNCTION forgeyard.settle_timers_v1(settlements json) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET lock_timeout = '5s' AS $$
BEGIN
  UPDATE forgeyard.timers t SET state = CASE WHEN x."rearmAt" IS NULL THEN 'Fired' ELSE 'Pending' END,
    due_at = coalesce(x."rearmAt", t.due_at), ready_at = x."rearmAt", token = NULL, version = t.version + 1
  FROM json_to_recordset(settlements) AS x("runId" text, key text, token text, "rearmAt" bigint)
  WHERE t.run_id = x."runId" AND t.key = x.key AND t.state = 'Claimed' AND t.token = x.token;
END $$;

CREATE FUNCTION forgeyard.claim_outbox_v1(fixed_now bigint, claims_max int, claim_ms bigint, claim_token text)
RETURNS TABLE (run_id text, first int, last int, attempts int, was_ready_at bigint, facts json) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off AS $$
#variable_conflict use_column
DECLARE
  server_now bigint := forgeyard.now_v1(fixed_now);
  claimed text[];
BEGIN
  -- Locked by a statement of its own: a commit may have moved the end of a row since this one began to look.
  SELECT array_agg(ready.run_id) INTO claimed FROM (
    SELECT o.run_id FROM forgeyard.outbox o WHERE o.ready_at <= server_now
    ORDER BY o.ready_at, o.run_id LIMIT claims_max FOR NO KEY UPDATE SKIP LOCKED) ready;
  IF claimed IS NULL THEN
    RETURN;
  END IF;
  FOR run_id, first, last, attempts, was_ready_at IN
    WITH ready AS MATERIALIZED (
      SELECT o.run_id, o.next, o.last, o.ready_at FROM forgeyard.outbox o WHERE o.run_id = ANY (claimed)
    ), batches AS MATERIALIZED (
      -- A batch ends where another transaction's facts begin.
      SELECT ready.run_id, ready.ready_at, coalesce((
        SELECT e.sequence - 1 FROM forgeyard.events e
        WHERE e.run_id = ready.run_id AND e.sequence > ready.next AND e.sequence <= ready.last
          AND e.tx <> (SELECT f.tx FROM forgeyard.events f WHERE f.run_id = ready.run_id AND f.sequence = ready.next)
        ORDER BY e.sequence LIMIT 1), ready.last) AS last
      FROM ready
    )
    UPDATE forgeyard.outbox o SET state = 'Publishing', ready_at = server_now + claim_ms, token = claim_token,
      claimed_last = b.last, attempts = o.attempts + 1
    FROM batches b WHERE o.run_id = b.run_id
    RETURNING o.run_id, o.next, b.last, o.attempts, b.ready_at
  LOOP
    -- A statement of its own: it sees every fact the claimed row speaks of.
    SELECT json_agg(json_build_object('eventId', e.event_id, 'schemaVersion', e.schema_version, 'runId', e.run_id,
        'sequence', e.sequence, 'occurredAt', e.at, 'actor', e.actor, 'correlationId', e.correlation,
        'causationId', e.causation, 'fact', e.payload) ORDER BY e.sequence) INTO facts
    FROM forgeyard.events e WHERE e.run_id = claim_outbox_v1.run_id AND e.sequence BETWEEN claim_outbox_v1.first AND claim_outbox_v1.last;
    RETURN NEXT;
  END LOOP;
END $$;

CREATE FUNCTION forgeyard.settle_outbox_v1(fixed_now bigint, settlements json) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET lock_timeout = '5s' AS $$
DECLARE
  now_ms bigint;
BEGIN
  -- In order, so that a commit that adds facts to the same runs meanwhile waits instead of deadlocking.
  PERFORM 1 FROM json_to_recordset(settlements) AS x("runId" text)
    JOIN forgeyard.outbox o ON o.run_id = x."runId" FOR UPDATE OF o;
  now_ms := forgeyard.now_v1(fixed_now);
  DELETE FROM forgeyard.outbox o USING json_to_recordset(settlements) AS x("runId" text, first int, token text, "retryAt" bigint)
  WHERE o.run_id = x."runId" AND o.next = x.first AND o.state = 'Publishing' AND o.token = x.token
    AND x."retryAt" IS NULL AND o.claimed_last = o.last;
  UPDATE forgeyard.outbox o SET
    state = CASE WHEN x."retryAt" IS NULL THEN 'Pending' ELSE 'Failed' END,
    next = CASE WHEN x."retryAt" IS NULL THEN o.claimed_last + 1 ELSE o.next END,
    attempts = CASE WHEN x."retryAt" IS NULL THEN 0 ELSE o.attempts END,
    ready_at = coalesce(x."retryAt", now_ms), token = NULL, claimed_last = NULL
  FROM json_to_recordset(settlements) AS x("runId" text, first int, token text, "retryAt" bigint)
  WHERE o.run_id = x."runId" AND o.next = x.first AND o.state = 'Publishing' AND o.token = x.token;
END $$;
`;
