/**
 * The rows of a run. Frozen once released: a migration is known by the checksum of its text.
 * Ids are text: the store takes whatever its caller made, and a person reads it with any sqlite tool.
 * Rules that one statement can see are stated here; rules across rows are in `check-run.ts`.
 */
export const runTables = `
CREATE TABLE plans (
  digest TEXT NOT NULL PRIMARY KEY,
  json TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
  id TEXT NOT NULL PRIMARY KEY,
  project TEXT NOT NULL,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  plan_digest TEXT NOT NULL REFERENCES plans (digest),
  source TEXT NOT NULL,
  created_by TEXT NOT NULL,
  request_id TEXT NOT NULL,
  rerun_of TEXT,
  labels TEXT NOT NULL,
  priority INTEGER NOT NULL,
  concurrency_group TEXT,
  state TEXT NOT NULL CHECK (state IN ('Queued','Running','Cancelling','Succeeded','Failed','Cancelled','TimedOut','Superseded')),
  intent_kind TEXT CHECK (intent_kind IN ('Cancelled','TimedOut','Superseded')),
  intent_requested_at INTEGER,
  superseded_by TEXT,
  reason TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER,
  deadline_at INTEGER,
  credit_sequence INTEGER NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 0),
  sequence INTEGER NOT NULL CHECK (sequence >= 0),
  UNIQUE (project, request_id),
  CHECK ((finished_at IS NOT NULL) = (state IN ('Succeeded','Failed','Cancelled','TimedOut','Superseded'))),
  CHECK ((intent_kind IS NULL) = (intent_requested_at IS NULL)),
  CHECK (state NOT IN ('Queued','Running','Succeeded','Failed') OR intent_kind IS NULL),
  CHECK (state <> 'Cancelling' OR intent_kind IS NOT NULL),
  CHECK (state <> 'Cancelled' OR intent_kind IS NULL OR intent_kind = 'Cancelled'),
  CHECK (state NOT IN ('TimedOut','Superseded') OR intent_kind IS state)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_newest ON runs (created_at DESC, id DESC);
CREATE INDEX runs_active ON runs (id) WHERE state IN ('Queued','Running','Cancelling');
CREATE INDEX runs_group ON runs (project, concurrency_group, created_at DESC, id DESC) WHERE concurrency_group IS NOT NULL;

CREATE TABLE jobs (
  run_id TEXT NOT NULL REFERENCES runs (id),
  idx INTEGER NOT NULL CHECK (idx >= 0),
  id TEXT NOT NULL UNIQUE,
  node TEXT NOT NULL,
  spec_digest TEXT NOT NULL,
  required INTEGER NOT NULL CHECK (required IN (0, 1)),
  failure_impact TEXT NOT NULL CHECK (failure_impact IN ('blocking','allowed')),
  matrix_group TEXT,
  capabilities TEXT NOT NULL,
  capability_key TEXT NOT NULL,
  cache_key TEXT,
  priority INTEGER NOT NULL,
  state TEXT NOT NULL,
  intent_kind TEXT CHECK (intent_kind IN ('TimedOut','Cancelled','Superseded','FailFast')),
  intent_reason TEXT,
  terminate_by INTEGER,
  reason TEXT,
  failure_class TEXT,
  attempt_count INTEGER NOT NULL CHECK (attempt_count >= 0),
  lease_epoch INTEGER NOT NULL CHECK (lease_epoch >= 0),
  current_attempt TEXT,
  current_lease TEXT,
  workload_failures INTEGER NOT NULL CHECK (workload_failures >= 0),
  infrastructure_failures INTEGER NOT NULL CHECK (infrastructure_failures >= 0),
  refusals INTEGER NOT NULL CHECK (refusals >= 0),
  refused_by TEXT NOT NULL,
  retry_not_before INTEGER,
  queue_deadline_at INTEGER,
  execution_source TEXT CHECK (execution_source IN ('Executed','CacheHit')),
  satisfies INTEGER CHECK (satisfies IN (0, 1)),
  outputs TEXT NOT NULL,
  eligible_at INTEGER,
  leased_at INTEGER,
  preparing_at INTEGER,
  started_at INTEGER,
  uploading_at INTEGER,
  finished_at INTEGER,
  version INTEGER NOT NULL CHECK (version >= 0),
  PRIMARY KEY (run_id, idx),
  -- Which states there are, and what each needs: one look per row, since every write of a job pays for it.
  CHECK (CASE
    WHEN finished_at IS NOT NULL THEN current_attempt IS NULL AND current_lease IS NULL AND
      state IN ('Succeeded','Skipped','Failed','Cancelled','TimedOut')
    WHEN current_attempt IS NOT NULL THEN current_lease IS NOT NULL AND
      (state IN ('Preparing','Running','UploadingOutputs') OR (state = 'Leased' AND intent_kind IS NULL))
    ELSE current_lease IS NULL AND intent_kind IS NULL AND state IN ('Pending','Eligible','RetryWaiting','Lost') END),
  CHECK ((intent_kind IS NULL) = (intent_reason IS NULL)),
  CHECK (state <> 'Eligible' OR eligible_at IS NOT NULL),
  CHECK (state <> 'RetryWaiting' OR retry_not_before IS NOT NULL),
  CHECK ((execution_source IS NOT NULL) = (state = 'Succeeded')),
  CHECK ((satisfies IS NOT NULL) = (state = 'Skipped')),
  CHECK (state NOT IN ('Failed','TimedOut') OR failure_class IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_eligible ON jobs (capability_key, priority DESC, eligible_at, run_id, idx) WHERE state = 'Eligible';
CREATE INDEX jobs_lost ON jobs (run_id, id) WHERE state = 'Lost';
CREATE INDEX jobs_retrying ON jobs (run_id, id) WHERE state = 'RetryWaiting';

CREATE TABLE job_dependencies (
  run_id TEXT NOT NULL REFERENCES runs (id),
  node_index INTEGER NOT NULL,
  place INTEGER NOT NULL,
  upstream_index INTEGER NOT NULL,
  condition TEXT NOT NULL CHECK (condition IN ('success','completed','always','failure')),
  required INTEGER NOT NULL CHECK (required IN (0, 1)),
  PRIMARY KEY (run_id, node_index, place),
  CHECK (node_index <> upstream_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE gates (
  run_id TEXT NOT NULL REFERENCES runs (id),
  idx INTEGER NOT NULL CHECK (idx >= 0),
  id TEXT NOT NULL UNIQUE,
  node TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('Pending','Satisfied','Rejected','Cancelled')),
  reason TEXT,
  opened_at INTEGER,
  expires_at INTEGER,
  decided_by TEXT,
  finished_at INTEGER,
  version INTEGER NOT NULL CHECK (version >= 0),
  PRIMARY KEY (run_id, idx),
  CHECK ((finished_at IS NOT NULL) = (state <> 'Pending')),
  CHECK (state NOT IN ('Satisfied','Rejected') OR opened_at IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE TABLE attempts (
  run_id TEXT NOT NULL,
  job_index INTEGER NOT NULL,
  number INTEGER NOT NULL CHECK (number >= 1),
  id TEXT NOT NULL UNIQUE,
  job_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('Leased','Preparing','Running','UploadingOutputs','Succeeded','Failed','Cancelled','TimedOut',
    'Lost','Rejected')),
  reason TEXT,
  runner TEXT NOT NULL,
  session TEXT NOT NULL,
  capabilities TEXT NOT NULL,
  spec_digest TEXT NOT NULL,
  lease_id TEXT NOT NULL,
  epoch INTEGER NOT NULL CHECK (epoch >= 1),
  leased_at INTEGER NOT NULL,
  preparing_at INTEGER,
  started_at INTEGER,
  uploading_at INTEGER,
  finished_at INTEGER,
  preparation_deadline_at INTEGER,
  execution_deadline_at INTEGER,
  upload_deadline_at INTEGER,
  exit TEXT,
  failure_class TEXT,
  failure_detail TEXT,
  outputs TEXT NOT NULL,
  reports TEXT NOT NULL,
  log TEXT,
  late_result INTEGER NOT NULL CHECK (late_result IN (0, 1)),
  version INTEGER NOT NULL CHECK (version >= 0),
  PRIMARY KEY (run_id, job_index, number),
  FOREIGN KEY (run_id, job_index) REFERENCES jobs (run_id, idx),
  CHECK ((finished_at IS NOT NULL) = (state IN ('Succeeded','Failed','Cancelled','TimedOut','Lost','Rejected')))
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
  run_id TEXT NOT NULL,
  job_index INTEGER NOT NULL,
  epoch INTEGER NOT NULL CHECK (epoch >= 1),
  id TEXT NOT NULL UNIQUE,
  job_id TEXT NOT NULL,
  attempt_id TEXT NOT NULL,
  runner TEXT NOT NULL,
  session TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('Offered','Held','Released','Expired','Rejected','Revoked')),
  reason TEXT,
  ttl_ms INTEGER NOT NULL CHECK (ttl_ms > 0),
  issued_at INTEGER NOT NULL,
  offer_expires_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  renewed_at INTEGER NOT NULL,
  credit_ms INTEGER NOT NULL CHECK (credit_ms >= 0),
  finished_at INTEGER,
  version INTEGER NOT NULL CHECK (version >= 0),
  PRIMARY KEY (run_id, job_index, epoch),
  FOREIGN KEY (run_id, job_index) REFERENCES jobs (run_id, idx),
  CHECK ((finished_at IS NULL) = (state IN ('Offered','Held'))),
  CHECK (state <> 'Offered' OR expires_at = offer_expires_at)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX leases_one_live ON leases (run_id, job_index) WHERE state IN ('Offered','Held');
CREATE INDEX leases_of_session ON leases (session) WHERE state IN ('Offered','Held');
`;

/** S5: terminal rows never change, except the columns a row's end does not settle. */
export const terminalTriggers = `
CREATE TRIGGER plans_are_immutable BEFORE UPDATE ON plans BEGIN SELECT RAISE(ABORT, 'a plan never changes'); END;

CREATE TRIGGER runs_end_for_good BEFORE UPDATE ON runs
WHEN OLD.state IN ('Succeeded','Failed','Cancelled','TimedOut','Superseded') AND
  (NEW.id, NEW.project, NEW.tenant, NEW.name, NEW.plan_digest, NEW.source, NEW.created_by, NEW.request_id, NEW.rerun_of, NEW.labels,
   NEW.priority, NEW.concurrency_group, NEW.state, NEW.intent_kind, NEW.intent_requested_at, NEW.superseded_by, NEW.reason,
   NEW.created_at, NEW.started_at, NEW.finished_at, NEW.deadline_at, NEW.credit_sequence, NEW.version)
  IS NOT
  (OLD.id, OLD.project, OLD.tenant, OLD.name, OLD.plan_digest, OLD.source, OLD.created_by, OLD.request_id, OLD.rerun_of, OLD.labels,
   OLD.priority, OLD.concurrency_group, OLD.state, OLD.intent_kind, OLD.intent_requested_at, OLD.superseded_by, OLD.reason,
   OLD.created_at, OLD.started_at, OLD.finished_at, OLD.deadline_at, OLD.credit_sequence, OLD.version)
BEGIN SELECT RAISE(ABORT, 'the run has ended'); END;

CREATE TRIGGER jobs_end_for_good BEFORE UPDATE ON jobs
WHEN OLD.state IN ('Succeeded','Failed','Cancelled','TimedOut','Skipped') AND
  (NEW.run_id, NEW.idx, NEW.id, NEW.node, NEW.spec_digest, NEW.required, NEW.failure_impact, NEW.matrix_group, NEW.capabilities,
   NEW.capability_key, NEW.cache_key, NEW.state, NEW.intent_kind, NEW.intent_reason, NEW.terminate_by, NEW.reason, NEW.failure_class,
   NEW.attempt_count, NEW.lease_epoch, NEW.workload_failures, NEW.infrastructure_failures, NEW.refusals, NEW.refused_by,
   NEW.retry_not_before, NEW.queue_deadline_at, NEW.execution_source, NEW.satisfies, NEW.outputs, NEW.eligible_at, NEW.leased_at,
   NEW.preparing_at, NEW.started_at, NEW.uploading_at, NEW.finished_at, NEW.version)
  IS NOT
  (OLD.run_id, OLD.idx, OLD.id, OLD.node, OLD.spec_digest, OLD.required, OLD.failure_impact, OLD.matrix_group, OLD.capabilities,
   OLD.capability_key, OLD.cache_key, OLD.state, OLD.intent_kind, OLD.intent_reason, OLD.terminate_by, OLD.reason, OLD.failure_class,
   OLD.attempt_count, OLD.lease_epoch, OLD.workload_failures, OLD.infrastructure_failures, OLD.refusals, OLD.refused_by,
   OLD.retry_not_before, OLD.queue_deadline_at, OLD.execution_source, OLD.satisfies, OLD.outputs, OLD.eligible_at, OLD.leased_at,
   OLD.preparing_at, OLD.started_at, OLD.uploading_at, OLD.finished_at, OLD.version)
BEGIN SELECT RAISE(ABORT, 'the job has ended'); END;

CREATE TRIGGER gates_end_for_good BEFORE UPDATE ON gates
WHEN OLD.state <> 'Pending' AND
  (NEW.run_id, NEW.idx, NEW.id, NEW.node, NEW.state, NEW.reason, NEW.opened_at, NEW.expires_at, NEW.decided_by, NEW.finished_at, NEW.version)
  IS NOT
  (OLD.run_id, OLD.idx, OLD.id, OLD.node, OLD.state, OLD.reason, OLD.opened_at, OLD.expires_at, OLD.decided_by, OLD.finished_at, OLD.version)
BEGIN SELECT RAISE(ABORT, 'the gate has ended'); END;

CREATE TRIGGER attempts_end_for_good BEFORE UPDATE ON attempts
WHEN OLD.state IN ('Succeeded','Failed','Cancelled','TimedOut','Lost','Rejected') AND (
  NEW.late_result < OLD.late_result OR
  (NEW.run_id, NEW.job_index, NEW.number, NEW.id, NEW.job_id, NEW.state, NEW.reason, NEW.runner, NEW.session, NEW.capabilities,
   NEW.spec_digest, NEW.lease_id, NEW.epoch, NEW.leased_at, NEW.preparing_at, NEW.started_at, NEW.uploading_at, NEW.finished_at,
   NEW.preparation_deadline_at, NEW.execution_deadline_at, NEW.upload_deadline_at, NEW.exit, NEW.failure_class, NEW.failure_detail,
   NEW.outputs, NEW.reports, NEW.log)
  IS NOT
  (OLD.run_id, OLD.job_index, OLD.number, OLD.id, OLD.job_id, OLD.state, OLD.reason, OLD.runner, OLD.session, OLD.capabilities,
   OLD.spec_digest, OLD.lease_id, OLD.epoch, OLD.leased_at, OLD.preparing_at, OLD.started_at, OLD.uploading_at, OLD.finished_at,
   OLD.preparation_deadline_at, OLD.execution_deadline_at, OLD.upload_deadline_at, OLD.exit, OLD.failure_class, OLD.failure_detail,
   OLD.outputs, OLD.reports, OLD.log))
BEGIN SELECT RAISE(ABORT, 'the attempt has ended'); END;

CREATE TRIGGER leases_end_for_good BEFORE UPDATE ON leases
WHEN OLD.state NOT IN ('Offered','Held') AND
  (NEW.run_id, NEW.job_index, NEW.epoch, NEW.id, NEW.job_id, NEW.attempt_id, NEW.runner, NEW.session, NEW.state, NEW.reason, NEW.ttl_ms,
   NEW.issued_at, NEW.offer_expires_at, NEW.expires_at, NEW.renewed_at, NEW.credit_ms, NEW.finished_at, NEW.version)
  IS NOT
  (OLD.run_id, OLD.job_index, OLD.epoch, OLD.id, OLD.job_id, OLD.attempt_id, OLD.runner, OLD.session, OLD.state, OLD.reason, OLD.ttl_ms,
   OLD.issued_at, OLD.offer_expires_at, OLD.expires_at, OLD.renewed_at, OLD.credit_ms, OLD.finished_at, OLD.version)
BEGIN SELECT RAISE(ABORT, 'the lease has ended'); END;
`;
