/**
 * The rows of a run. Frozen once released: a migration is known by the checksum of its text.
 * Every name is qualified, so that nothing depends on a search path. Ids are text in byte order: the store takes
 * whatever its caller made. Keys begin with the run, so that the tables can be distributed by it.
 * Indexes name columns that seldom change (`queue`, `finished_at`, never `state`): then most updates are heap-only.
 */
export const runTables = `
CREATE TABLE forgeyard.plans (
  digest text COLLATE "C" NOT NULL PRIMARY KEY,
  plan json NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE forgeyard.runs (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  project text COLLATE "C" NOT NULL,
  tenant text COLLATE "C" NOT NULL,
  name text NOT NULL,
  plan_digest text COLLATE "C" NOT NULL REFERENCES forgeyard.plans (digest),
  source json NOT NULL,
  created_by text NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  rerun_of text COLLATE "C",
  labels json NOT NULL,
  priority integer NOT NULL,
  concurrency_group text COLLATE "C",
  state text NOT NULL,
  intent_kind text,
  intent_requested_at bigint,
  superseded_by text COLLATE "C",
  reason json,
  created_at bigint NOT NULL,
  started_at bigint,
  finished_at bigint,
  deadline_at bigint,
  credit_sequence integer NOT NULL,
  version integer NOT NULL CHECK (version >= 0),
  sequence integer NOT NULL CHECK (sequence >= 0),
  CONSTRAINT runs_one_per_request UNIQUE (project, request_id),
  CONSTRAINT runs_states CHECK (state IN ('Queued','Running','Cancelling','Succeeded','Failed','Cancelled','TimedOut','Superseded')),
  CONSTRAINT runs_intents CHECK (intent_kind IN ('Cancelled','TimedOut','Superseded')),
  CHECK ((finished_at IS NOT NULL) = (state IN ('Succeeded','Failed','Cancelled','TimedOut','Superseded'))),
  CHECK ((intent_kind IS NULL) = (intent_requested_at IS NULL)),
  CHECK (state NOT IN ('Queued','Running','Succeeded','Failed') OR intent_kind IS NULL),
  CHECK (state <> 'Cancelling' OR intent_kind IS NOT NULL),
  CHECK (state <> 'Cancelled' OR intent_kind IS NULL OR intent_kind = 'Cancelled'),
  CHECK (state NOT IN ('TimedOut','Superseded') OR intent_kind IS NOT DISTINCT FROM state)
) WITH (fillfactor = 50);
CREATE INDEX runs_newest ON forgeyard.runs (created_at DESC, id DESC);
CREATE INDEX runs_active ON forgeyard.runs (id) WHERE finished_at IS NULL;
CREATE INDEX runs_group ON forgeyard.runs (project, concurrency_group) WHERE concurrency_group IS NOT NULL;

CREATE TABLE forgeyard.jobs (
  run_id text COLLATE "C" NOT NULL REFERENCES forgeyard.runs (id),
  idx integer NOT NULL CHECK (idx >= 0),
  id text COLLATE "C" NOT NULL,
  node text COLLATE "C" NOT NULL,
  spec_digest text COLLATE "C" NOT NULL,
  required boolean NOT NULL,
  failure_impact text NOT NULL CHECK (failure_impact IN ('blocking','allowed')),
  matrix_group text COLLATE "C",
  capabilities json NOT NULL,
  capability_key text[] COLLATE "C" NOT NULL,
  cache_key text COLLATE "C",
  priority integer NOT NULL,
  state text NOT NULL,
  queue text GENERATED ALWAYS AS (CASE WHEN state IN ('Eligible','Lost','RetryWaiting') THEN state END) STORED,
  intent_kind text,
  intent_reason text,
  terminate_by bigint,
  reason json,
  failure_class text,
  attempt_count integer NOT NULL,
  lease_epoch integer NOT NULL,
  current_attempt text COLLATE "C",
  current_lease text COLLATE "C",
  workload_failures integer NOT NULL,
  infrastructure_failures integer NOT NULL,
  refusals integer NOT NULL,
  refused_by json NOT NULL,
  retry_not_before bigint,
  queue_deadline_at bigint,
  execution_source text CHECK (execution_source IN ('Executed','CacheHit')),
  satisfies boolean,
  outputs json NOT NULL,
  eligible_at bigint,
  leased_at bigint,
  preparing_at bigint,
  started_at bigint,
  uploading_at bigint,
  finished_at bigint,
  version integer NOT NULL CHECK (version >= 0),
  PRIMARY KEY (run_id, idx),
  CONSTRAINT jobs_one_per_id UNIQUE (id),
  -- Which states there are, and what each needs: one look per row, since every write of a job pays for it.
  CONSTRAINT jobs_states CHECK (CASE
    WHEN finished_at IS NOT NULL THEN current_attempt IS NULL AND current_lease IS NULL AND
      state IN ('Succeeded','Skipped','Failed','Cancelled','TimedOut')
    WHEN current_attempt IS NOT NULL THEN current_lease IS NOT NULL AND
      (state IN ('Preparing','Running','UploadingOutputs') OR (state = 'Leased' AND intent_kind IS NULL))
    ELSE current_lease IS NULL AND intent_kind IS NULL AND state IN ('Pending','Eligible','RetryWaiting','Lost') END),
  CONSTRAINT jobs_intents CHECK (intent_kind IN ('TimedOut','Cancelled','Superseded','FailFast')),
  CHECK ((intent_kind IS NULL) = (intent_reason IS NULL)),
  CHECK (attempt_count >= 0 AND lease_epoch >= 0 AND workload_failures >= 0 AND infrastructure_failures >= 0 AND refusals >= 0),
  CHECK (state <> 'Eligible' OR eligible_at IS NOT NULL),
  CHECK (state <> 'RetryWaiting' OR retry_not_before IS NOT NULL),
  CHECK ((execution_source IS NOT NULL) = (state = 'Succeeded')),
  CHECK ((satisfies IS NOT NULL) = (state = 'Skipped')),
  CHECK (state NOT IN ('Failed','TimedOut') OR failure_class IS NOT NULL)
) WITH (fillfactor = 70);
CREATE INDEX jobs_eligible ON forgeyard.jobs (capability_key, priority DESC, eligible_at, run_id, idx) WHERE queue = 'Eligible';
CREATE INDEX jobs_lost ON forgeyard.jobs (run_id, id) WHERE queue = 'Lost';
CREATE INDEX jobs_retrying ON forgeyard.jobs (run_id, id) WHERE queue = 'RetryWaiting';

CREATE TABLE forgeyard.job_dependencies (
  run_id text COLLATE "C" NOT NULL REFERENCES forgeyard.runs (id),
  node_index integer NOT NULL,
  place integer NOT NULL,
  upstream_index integer NOT NULL,
  condition text NOT NULL CHECK (condition IN ('success','completed','always','failure')),
  required boolean NOT NULL,
  PRIMARY KEY (run_id, node_index, place),
  CHECK (node_index <> upstream_index)
);

CREATE TABLE forgeyard.gates (
  run_id text COLLATE "C" NOT NULL REFERENCES forgeyard.runs (id),
  idx integer NOT NULL CHECK (idx >= 0),
  id text COLLATE "C" NOT NULL,
  node text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('Pending','Satisfied','Rejected','Cancelled')),
  reason json,
  opened_at bigint,
  expires_at bigint,
  decided_by text,
  finished_at bigint,
  version integer NOT NULL CHECK (version >= 0),
  PRIMARY KEY (run_id, idx),
  CONSTRAINT gates_one_per_id UNIQUE (id),
  CHECK ((finished_at IS NOT NULL) = (state <> 'Pending')),
  CHECK (state NOT IN ('Satisfied','Rejected') OR opened_at IS NOT NULL)
);

CREATE TABLE forgeyard.attempts (
  run_id text COLLATE "C" NOT NULL,
  job_index integer NOT NULL,
  number integer NOT NULL CHECK (number >= 1),
  id text COLLATE "C" NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('Leased','Preparing','Running','UploadingOutputs','Succeeded','Failed','Cancelled','TimedOut',
    'Lost','Rejected')),
  reason json,
  runner text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL,
  capabilities json NOT NULL,
  spec_digest text COLLATE "C" NOT NULL,
  lease_id text COLLATE "C" NOT NULL,
  epoch integer NOT NULL CHECK (epoch >= 1),
  leased_at bigint NOT NULL,
  preparing_at bigint,
  started_at bigint,
  uploading_at bigint,
  finished_at bigint,
  preparation_deadline_at bigint,
  execution_deadline_at bigint,
  upload_deadline_at bigint,
  exit json,
  failure_class text,
  failure_detail json,
  outputs json NOT NULL,
  reports json NOT NULL,
  log text,
  late_result boolean NOT NULL,
  version integer NOT NULL CHECK (version >= 0),
  PRIMARY KEY (run_id, job_index, number),
  CONSTRAINT attempts_one_per_id UNIQUE (run_id, id),
  FOREIGN KEY (run_id, job_index) REFERENCES forgeyard.jobs (run_id, idx),
  CHECK ((finished_at IS NOT NULL) = (state IN ('Succeeded','Failed','Cancelled','TimedOut','Lost','Rejected')))
) WITH (fillfactor = 70);

CREATE TABLE forgeyard.leases (
  run_id text COLLATE "C" NOT NULL,
  job_index integer NOT NULL,
  epoch integer NOT NULL CHECK (epoch >= 1),
  id text COLLATE "C" NOT NULL,
  job_id text COLLATE "C" NOT NULL,
  attempt_id text COLLATE "C" NOT NULL,
  runner text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL,
  state text NOT NULL CHECK (state IN ('Offered','Held','Released','Expired','Rejected','Revoked')),
  reason json,
  ttl_ms integer NOT NULL CHECK (ttl_ms > 0),
  issued_at bigint NOT NULL,
  offer_expires_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  renewed_at bigint NOT NULL,
  credit_ms bigint NOT NULL CHECK (credit_ms >= 0),
  finished_at bigint,
  version integer NOT NULL CHECK (version >= 0),
  PRIMARY KEY (run_id, id),
  -- Not led by the run: a lookup by run and id must find one index only, also while the table is too small to matter.
  CONSTRAINT leases_one_per_epoch UNIQUE (job_index, run_id, epoch),
  FOREIGN KEY (run_id, job_index) REFERENCES forgeyard.jobs (run_id, idx),
  CHECK ((finished_at IS NULL) = (state IN ('Offered','Held'))),
  CHECK (state <> 'Offered' OR expires_at = offer_expires_at)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX leases_one_live ON forgeyard.leases (run_id, job_index) WHERE finished_at IS NULL;
CREATE INDEX leases_of_session ON forgeyard.leases (session) WHERE finished_at IS NULL;
`;
