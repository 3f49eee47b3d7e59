/**
 * History and what travels: facts, outbox, inbox, timers, receipts, effects. Frozen like every migration.
 * These rows refer to their run without a foreign key: they are written under the run's lock, and a run cannot be
 * deleted while it has nodes; a check per fact would cost more than the fact.
 */
export const historyTables = `
CREATE TABLE forgeyard.events (
  run_id text COLLATE "C" NOT NULL,
  sequence integer NOT NULL CHECK (sequence >= 1),
  -- Readers of the feed go by (tx, position) and stop below the oldest transaction that may still commit.
  tx xid8 NOT NULL DEFAULT pg_current_xact_id(),
  position bigint GENERATED ALWAYS AS IDENTITY,
  event_id text COLLATE "C" NOT NULL,
  schema_version integer NOT NULL,
  type text NOT NULL,
  entity text NOT NULL CHECK (entity IN ('run','job','attempt','lease','gate')),
  entity_id text COLLATE "C" NOT NULL,
  at bigint NOT NULL,
  actor text NOT NULL,
  correlation text COLLATE "C" NOT NULL,
  causation text COLLATE "C",
  payload json NOT NULL,
  PRIMARY KEY (run_id, sequence)
);
CREATE INDEX events_feed ON forgeyard.events (tx, position);
CREATE INDEX events_position ON forgeyard.events (position);

-- One row per run with undelivered facts: next..last. A batch is what one transaction wrote, claimed_last its end.
CREATE TABLE forgeyard.outbox (
  run_id text COLLATE "C" NOT NULL PRIMARY KEY,
  next integer NOT NULL CHECK (next >= 1),
  last integer NOT NULL,
  state text NOT NULL CHECK (state IN ('Pending','Publishing','Failed')),
  ready_at bigint NOT NULL,
  token text COLLATE "C",
  claimed_last integer,
  attempts integer NOT NULL CHECK (attempts >= 0),
  created_at bigint NOT NULL,
  CHECK (last >= next),
  CHECK ((token IS NOT NULL) = (state = 'Publishing')),
  CHECK ((claimed_last IS NOT NULL) = (state = 'Publishing')),
  CHECK (claimed_last IS NULL OR (claimed_last >= next AND claimed_last <= last))
) WITH (fillfactor = 50);
CREATE INDEX outbox_ready ON forgeyard.outbox (ready_at, run_id);

CREATE TABLE forgeyard.inbox (
  consumer_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  processed_at bigint NOT NULL,
  result_digest text COLLATE "C",
  PRIMARY KEY (consumer_id, event_id)
);

CREATE TABLE forgeyard.dead_letters (
  consumer_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  run_id text COLLATE "C",
  sequence integer,
  attempts integer NOT NULL CHECK (attempts >= 1),
  last_error_code text NOT NULL,
  last_error_message text,
  last_error_at bigint NOT NULL,
  resolved_at bigint,
  resolved_by text,
  PRIMARY KEY (consumer_id, event_id)
);
CREATE INDEX dead_letters_open ON forgeyard.dead_letters (last_error_at) WHERE resolved_at IS NULL;

CREATE TABLE forgeyard.external_effects (
  run_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  consumer_id text COLLATE "C" NOT NULL,
  event_id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL UNIQUE,
  state text NOT NULL CHECK (state IN ('Pending','InProgress','Succeeded','Failed','Unknown')),
  attempts integer NOT NULL CHECK (attempts >= 0),
  token text COLLATE "C",
  ready_at bigint,
  request json NOT NULL,
  outcome json,
  created_at bigint NOT NULL,
  finished_at bigint,
  version integer NOT NULL,
  PRIMARY KEY (run_id, id),
  CHECK ((finished_at IS NOT NULL) = (state IN ('Succeeded','Failed')))
);
CREATE INDEX external_effects_open ON forgeyard.external_effects (state, ready_at) WHERE finished_at IS NULL;

CREATE TABLE forgeyard.timers (
  run_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  due_at bigint NOT NULL,
  entity text COLLATE "C" NOT NULL,
  attempt text COLLATE "C",
  lease text COLLATE "C",
  state text NOT NULL CHECK (state IN ('Pending','Claimed','Fired','Cancelled')),
  ready_at bigint,
  token text COLLATE "C",
  version integer NOT NULL,
  PRIMARY KEY (run_id, key),
  CHECK ((ready_at IS NOT NULL) = (state IN ('Pending','Claimed'))),
  CHECK ((token IS NOT NULL) = (state = 'Claimed'))
) WITH (fillfactor = 70);
CREATE INDEX timers_ready ON forgeyard.timers (ready_at, run_id, key) WHERE ready_at IS NOT NULL;

CREATE TABLE forgeyard.receipts (
  run_id text COLLATE "C" NOT NULL,
  message_id text COLLATE "C" NOT NULL,
  command text NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('accepted','no-op')),
  code text,
  reply json NOT NULL,
  at bigint NOT NULL,
  PRIMARY KEY (run_id, message_id)
);
`;
