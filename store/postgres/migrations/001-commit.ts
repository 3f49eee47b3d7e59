/**
 * The folded group commit: many runs, one statement. It locks the runs in the order they are sent (sorted by id), judges
 * each by what stands then (a new snapshot per statement inside the function), and writes those that won; the others
 * change nothing. Answers which were refused and why, and the server's time.
 */
export const commitFunction = `
CREATE FUNCTION forgeyard.now_v1(fixed bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(fixed, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
$$;

CREATE FUNCTION forgeyard.commit_v1(
  fixed_now bigint, heads json, locked_leases json, plans json, new_runs json, runs json,
  new_jobs json, new_gates json, dependencies json,
  jobs json, gates json, attempts json, leases json, facts json,
  timers_set json, timers_ended json, receipts json, audit json
) RETURNS json LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan
  SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off SET lock_timeout = '10s' AS $$
DECLARE
  now_ms bigint;
  newest_credit integer;
  is_beating boolean;
  won text[];
  refused json;
  reprioritized text[];
  jobs_wanted bigint;
  gates_wanted bigint;
  attempts_wanted bigint;
  leases_wanted bigint;
BEGIN
  PERFORM 1 FROM json_to_recordset(heads) AS h("runId" text)
    JOIN forgeyard.runs r ON r.id = h."runId" FOR NO KEY UPDATE OF r;
  IF locked_leases IS NOT NULL THEN
    PERFORM 1 FROM json_to_recordset(locked_leases) AS x("runId" text, id text)
      JOIN forgeyard.leases l ON l.run_id = x."runId" AND l.id = x.id FOR NO KEY UPDATE OF l;
  END IF;
  now_ms := forgeyard.now_v1(fixed_now);
  IF locked_leases IS NOT NULL THEN
    -- For leases that are to expire: nobody may be judged before the credit for an outage is there.
    SELECT coalesce(max(c.sequence), 0) INTO newest_credit FROM forgeyard.credits c;
    SELECT now_ms - b.last_beat_at <= b.gap_ms INTO is_beating FROM forgeyard.control_heartbeat b WHERE b.id = 1;
  END IF;

  -- Materialized: each verdict is reached once, and used seven times.
  WITH v AS MATERIALIZED (
    SELECT h."runId" AS run_id, h.jobs, h.gates, h.attempts, h.leases, h.priority <> r.priority AS reprioritizes,
      CASE WHEN repeated.messages IS NOT NULL THEN repeated.messages WHEN taken.id IS NOT NULL THEN to_json(taken.id) END AS detail,
      CASE
        WHEN repeated.messages IS NOT NULL THEN 'duplicate'
        WHEN taken.id IS NOT NULL THEN 'exists'
        WHEN coalesce(r.sequence, 0) <> h.expected OR (r.id IS NULL) <> h.creates THEN 'sequence'
        WHEN h.live IS NOT NULL AND cardinality(h.live) <> (
          SELECT count(*) FROM forgeyard.leases l
          WHERE l.run_id = h."runId" AND l.id = ANY (h.live) AND l.state IN ('Offered','Held') AND l.expires_at > now_ms) THEN 'guard'
        WHEN h.sessions IS NOT NULL AND cardinality(h.sessions) <> (
          SELECT count(*) FROM forgeyard.runner_sessions s WHERE s.id = ANY (h.sessions) AND s.state = 'Active') THEN 'guard'
        WHEN h.expired IS NOT NULL AND (NOT coalesce(is_beating, false) OR NOT (newest_credit = ALL (h.credits))
          OR cardinality(h.expired) <> (SELECT count(*) FROM forgeyard.leases l
            WHERE l.run_id = h."runId" AND l.id = ANY (h.expired) AND l.state IN ('Offered','Held') AND l.expires_at <= now_ms)) THEN 'guard'
        WHEN h.broken THEN 'broken'
      END AS refusal
    FROM json_to_recordset(heads) AS h("runId" text, expected int, creates boolean, project text, "requestId" text, priority int,
      messages text[], live text[], sessions text[], expired text[], credits int[], jobs int, gates int, attempts int, leases int, broken boolean)
    LEFT JOIN forgeyard.runs r ON r.id = h."runId"
    LEFT JOIN LATERAL (
      SELECT json_agg(m.message_id) AS messages FROM forgeyard.receipts m
      WHERE h.messages IS NOT NULL AND m.run_id = h."runId" AND m.message_id = ANY (h.messages)) repeated ON true
    LEFT JOIN forgeyard.runs taken ON h.creates AND r.id IS NULL AND taken.project = h.project AND taken.request_id = h."requestId"
  )
  SELECT array_agg(v.run_id) FILTER (WHERE v.refusal IS NULL),
    json_agg(json_build_object('runId', v.run_id, 'kind', v.refusal, 'detail', v.detail)) FILTER (WHERE v.refusal IS NOT NULL),
    array_agg(v.run_id) FILTER (WHERE v.refusal IS NULL AND v.reprioritizes),
    sum(v.jobs) FILTER (WHERE v.refusal IS NULL), sum(v.gates) FILTER (WHERE v.refusal IS NULL),
    sum(v.attempts) FILTER (WHERE v.refusal IS NULL), sum(v.leases) FILTER (WHERE v.refusal IS NULL)
  INTO won, refused, reprioritized, jobs_wanted, gates_wanted, attempts_wanted, leases_wanted
  FROM v;

  IF won IS NOT NULL THEN
    IF plans IS NOT NULL THEN
      INSERT INTO forgeyard.plans (digest, plan, created_at)
      SELECT x.digest, x.plan, now_ms FROM json_to_recordset(plans) AS x("runId" text, digest text, plan json)
      WHERE x."runId" = ANY (won) ORDER BY x.digest ON CONFLICT (digest) DO NOTHING;
    END IF;
    IF new_runs IS NOT NULL THEN
      INSERT INTO forgeyard.runs (id, project, tenant, name, plan_digest, source, created_by, request_id, rerun_of, labels, priority,
        concurrency_group, state, intent_kind, intent_requested_at, superseded_by, reason, created_at, started_at, finished_at,
        deadline_at, credit_sequence, version, sequence)
      SELECT x.id, x.project, x.tenant, x.name, x."planDigest", x.source, x."createdBy", x."requestId", x."rerunOf", x.labels,
        x.priority, x."concurrencyGroup", x.state, x.intent->>'kind', (x.intent->>'requestedAt')::bigint,
        x.intent->>'supersededBy', x.reason, x."createdAt", x."startedAt", x."finishedAt", x."deadlineAt", x."creditSequence",
        x.version, x.sequence
      FROM json_to_recordset(new_runs) AS x(id text, project text, tenant text, name text, "planDigest" text, source json,
        "createdBy" text, "requestId" text, "rerunOf" text, labels json, priority int, "concurrencyGroup" text, state text,
        intent json, reason json, "createdAt" bigint, "startedAt" bigint, "finishedAt" bigint, "deadlineAt" bigint,
        "creditSequence" int, version int, sequence int)
      WHERE x.id = ANY (won);
    END IF;
    IF runs IS NOT NULL THEN
      UPDATE forgeyard.runs r SET priority = x.priority, state = x.state, intent_kind = x.intent->>'kind',
        intent_requested_at = (x.intent->>'requestedAt')::bigint, superseded_by = x.intent->>'supersededBy', reason = x.reason,
        started_at = x."startedAt", finished_at = x."finishedAt", deadline_at = x."deadlineAt",
        credit_sequence = x."creditSequence", version = x.version, sequence = x.sequence
      FROM json_to_recordset(runs) AS x(id text, priority int, state text, intent json, reason json, "startedAt" bigint,
        "finishedAt" bigint, "deadlineAt" bigint, "creditSequence" int, version int, sequence int)
      WHERE x.id = ANY (won) AND r.id = x.id;
    END IF;
    PERFORM forgeyard.write_rows_v1(won, jobs_wanted, gates_wanted, attempts_wanted, leases_wanted, new_jobs, new_gates,
      dependencies, jobs, gates, attempts, leases, facts, timers_set, timers_ended, receipts, audit);
    IF reprioritized IS NOT NULL THEN
      UPDATE forgeyard.jobs j SET priority = r.priority FROM forgeyard.runs r
      WHERE r.id = ANY (reprioritized) AND j.run_id = r.id AND j.finished_at IS NULL;
    END IF;
    INSERT INTO forgeyard.outbox AS o (run_id, next, last, state, ready_at, token, claimed_last, attempts, created_at)
    SELECT h."runId", h.expected + 1, h.last, 'Pending', now_ms, NULL, NULL, 0, now_ms
    FROM json_to_recordset(heads) AS h("runId" text, expected int, last int)
    WHERE h."runId" = ANY (won) AND h.last > h.expected
    ON CONFLICT (run_id) DO UPDATE SET last = excluded.last;
  END IF;
  RETURN json_build_object('now', now_ms, 'refused', refused);
END $$;
`;
