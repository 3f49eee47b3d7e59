/** History and what travels: facts, outbox, inbox, timers, receipts, effects. Frozen like every migration. */
export const historyTables = `
CREATE TABLE events (
  position INTEGER PRIMARY KEY AUTOINCREMENT,
  run_id TEXT NOT NULL REFERENCES runs (id),
  sequence INTEGER NOT NULL CHECK (sequence >= 1),
  event_id TEXT NOT NULL,
  schema_version INTEGER NOT NULL,
  type TEXT NOT NULL,
  entity TEXT NOT NULL CHECK (entity IN ('run','job','attempt','lease','gate')),
  entity_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  correlation TEXT NOT NULL,
  causation TEXT,
  payload TEXT NOT NULL,
  UNIQUE (run_id, sequence)
) STRICT;
CREATE TRIGGER events_are_append_only BEFORE UPDATE ON events BEGIN SELECT RAISE(ABORT, 'history is append-only'); END;

-- One row per commit whose facts are not delivered yet; delivery removes it. Only the oldest one of a run is the head.
CREATE TABLE outbox (
  run_id TEXT NOT NULL REFERENCES runs (id),
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('Pending','Publishing','Failed')),
  is_head INTEGER NOT NULL CHECK (is_head IN (0, 1)),
  ready_at INTEGER NOT NULL,
  token TEXT,
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (run_id, first),
  CHECK (last >= first),
  CHECK ((token IS NOT NULL) = (state = 'Publishing'))
) STRICT, WITHOUT ROWID;
CREATE INDEX outbox_ready ON outbox (ready_at, run_id, first) WHERE is_head = 1;

CREATE TABLE inbox (
  consumer_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  processed_at INTEGER NOT NULL,
  result_digest TEXT,
  PRIMARY KEY (consumer_id, event_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE dead_letters (
  consumer_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  run_id TEXT,
  sequence INTEGER,
  attempts INTEGER NOT NULL CHECK (attempts >= 1),
  last_error_code TEXT NOT NULL,
  last_error_message TEXT,
  last_error_at INTEGER NOT NULL,
  resolved_at INTEGER,
  resolved_by TEXT,
  PRIMARY KEY (consumer_id, event_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dead_letters_open ON dead_letters (last_error_at) WHERE resolved_at IS NULL;

CREATE TABLE external_effects (
  run_id TEXT NOT NULL,
  id TEXT NOT NULL UNIQUE,
  consumer_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  idempotency_key TEXT NOT NULL UNIQUE,
  state TEXT NOT NULL CHECK (state IN ('Pending','InProgress','Succeeded','Failed','Unknown')),
  attempts INTEGER NOT NULL CHECK (attempts >= 0),
  token TEXT,
  ready_at INTEGER,
  request TEXT NOT NULL,
  outcome TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  version INTEGER NOT NULL,
  PRIMARY KEY (run_id, id),
  CHECK ((finished_at IS NOT NULL) = (state IN ('Succeeded','Failed')))
) STRICT, WITHOUT ROWID;
CREATE INDEX external_effects_open ON external_effects (state, ready_at) WHERE state IN ('Pending','InProgress','Unknown');

CREATE TABLE timers (
  run_id TEXT NOT NULL REFERENCES runs (id),
  key TEXT NOT NULL,
  kind TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  entity TEXT NOT NULL,
  attempt TEXT,
  lease TEXT,
  state TEXT NOT NULL CHECK (state IN ('Pending','Claimed','Fired','Cancelled')),
  ready_at INTEGER,
  token TEXT,
  version INTEGER NOT NULL,
  PRIMARY KEY (run_id, key),
  CHECK ((ready_at IS NOT NULL) = (state IN ('Pending','Claimed'))),
  CHECK ((token IS NOT NULL) = (state = 'Claimed'))
) STRICT, WITHOUT ROWID;
CREATE INDEX timers_ready ON timers (ready_at, run_id, key) WHERE state IN ('Pending','Claimed');

CREATE TABLE receipts (
  run_id TEXT NOT NULL REFERENCES runs (id),
  message_id TEXT NOT NULL,
  command TEXT NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('accepted','no-op')),
  code TEXT,
  reply TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (run_id, message_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER receipts_are_final BEFORE UPDATE ON receipts BEGIN SELECT RAISE(ABORT, 'an answer stands'); END;
`;
