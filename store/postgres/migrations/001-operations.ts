/** What stands beside the runs: sessions, cache, audit, heartbeat, reconcilers, generic actors. Frozen. */
export const operationTables = `
CREATE TABLE forgeyard.runner_sessions (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  runner text COLLATE "C" NOT NULL,
  name text NOT NULL,
  host text,
  capabilities json NOT NULL,
  slots integer NOT NULL CHECK (slots >= 0),
  state text NOT NULL CHECK (state IN ('Active','Draining','Closed','Replaced')),
  reason text,
  opened_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  ended_at bigint,
  version integer NOT NULL CHECK (version >= 0),
  CHECK ((ended_at IS NOT NULL) = (state IN ('Closed','Replaced')))
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX runner_sessions_live ON forgeyard.runner_sessions (runner) WHERE ended_at IS NULL;

CREATE TABLE forgeyard.cache_entries (
  project text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  spec_digest text COLLATE "C" NOT NULL,
  outputs json NOT NULL,
  run_id text COLLATE "C" NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (project, key, spec_digest)
);

CREATE TABLE forgeyard.audit (
  position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  at bigint NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  run_id text COLLATE "C",
  entity text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('allowed','denied')),
  message text
);
CREATE INDEX audit_of_run ON forgeyard.audit (run_id, position) WHERE run_id IS NOT NULL;

CREATE TABLE forgeyard.control_heartbeat (
  id integer NOT NULL PRIMARY KEY CHECK (id = 1),
  last_beat_at bigint NOT NULL,
  gap_ms bigint NOT NULL CHECK (gap_ms > 0)
) WITH (fillfactor = 10);

CREATE TABLE forgeyard.credits (
  sequence integer NOT NULL PRIMARY KEY CHECK (sequence >= 1),
  gap_start bigint NOT NULL,
  gap_ms bigint NOT NULL CHECK (gap_ms >= 0)
);

CREATE TABLE forgeyard.reconcile_progress (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  cursor text,
  started_at bigint NOT NULL,
  completed_at bigint,
  last_error text
);

CREATE TABLE forgeyard.actors (
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  machine_id text NOT NULL,
  machine_version integer NOT NULL,
  value json NOT NULL,
  context json NOT NULL,
  version integer NOT NULL CHECK (version >= 0),
  PRIMARY KEY (kind, id)
);
`;
