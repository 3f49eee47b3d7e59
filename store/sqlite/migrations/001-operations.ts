/** What stands beside the runs: sessions, cache, audit, heartbeat, reconcilers, generic actors. Frozen. */
export const operationTables = `
CREATE TABLE runner_sessions (
  id TEXT NOT NULL PRIMARY KEY,
  runner TEXT NOT NULL,
  name TEXT NOT NULL,
  host TEXT,
  capabilities TEXT NOT NULL,
  slots INTEGER NOT NULL CHECK (slots >= 0),
  state TEXT NOT NULL CHECK (state IN ('Active','Draining','Closed','Replaced')),
  reason TEXT,
  opened_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  ended_at INTEGER,
  version INTEGER NOT NULL CHECK (version >= 0),
  CHECK ((ended_at IS NOT NULL) = (state IN ('Closed','Replaced')))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX runner_sessions_live ON runner_sessions (runner) WHERE state IN ('Active','Draining');
CREATE TRIGGER runner_sessions_end_for_good BEFORE UPDATE ON runner_sessions
WHEN OLD.state IN ('Closed','Replaced') BEGIN SELECT RAISE(ABORT, 'the session has ended'); END;

CREATE TABLE cache_entries (
  project TEXT NOT NULL,
  key TEXT NOT NULL,
  spec_digest TEXT NOT NULL,
  outputs TEXT NOT NULL,
  run_id TEXT NOT NULL,
  job_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (project, key, spec_digest)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  run_id TEXT,
  entity TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('allowed','denied')),
  message TEXT
) STRICT;
CREATE INDEX audit_of_run ON audit (run_id, position) WHERE run_id IS NOT NULL;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TABLE control_heartbeat (
  id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
  last_beat_at INTEGER NOT NULL,
  gap_ms INTEGER NOT NULL CHECK (gap_ms > 0)
) STRICT;

CREATE TABLE credits (
  sequence INTEGER NOT NULL PRIMARY KEY CHECK (sequence >= 1),
  gap_start INTEGER NOT NULL,
  gap_ms INTEGER NOT NULL CHECK (gap_ms >= 0)
) STRICT;

CREATE TABLE reconcile_progress (
  id TEXT NOT NULL PRIMARY KEY,
  cursor TEXT,
  started_at INTEGER NOT NULL,
  completed_at INTEGER,
  last_error TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE actors (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  machine_id TEXT NOT NULL,
  machine_version INTEGER NOT NULL,
  value TEXT NOT NULL,
  context TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 0),
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
`;
