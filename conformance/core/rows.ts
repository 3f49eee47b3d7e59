/** Rows by the names of the plan: where suites look at a run, whoever keeps it. */
import type {
  AttemptId,
  AttemptRow,
  Authority,
  GateRow,
  JobRow,
  LeaseId,
  LeaseRow,
  NodeRow,
} from '../../machines/index.ts';

/** The rows of a run by name: those of a world, or those a store has loaded. */
export interface Rows {
  row(node: string): NodeRow;
  readonly attempts: ReadonlyMap<AttemptId, AttemptRow>;
  readonly leases: ReadonlyMap<LeaseId, LeaseRow>;
}

export function jobOf(rows: Rows, node: string): JobRow {
  const row = rows.row(node);
  if (row.kind !== 'job') throw new Error(`${node} is no job`);
  return row;
}

export function gateOf(rows: Rows, node: string): GateRow {
  const row = rows.row(node);
  if (row.kind !== 'gate') throw new Error(`${node} is no gate`);
  return row;
}

/** The attempt of this number, or the newest one. */
export function attemptOf(rows: Rows, node: string, number?: number): AttemptRow {
  const job = jobOf(rows, node);
  const wanted = number ?? job.attemptCount;
  for (const attempt of rows.attempts.values()) {
    if (attempt.jobId === job.id && attempt.number === wanted) return attempt;
  }
  throw new Error(`${node} has no attempt ${wanted}`);
}

export function leaseOf(rows: Rows, node: string, number?: number): LeaseRow {
  const lease = rows.leases.get(attemptOf(rows, node, number).leaseId);
  if (lease === undefined) throw new Error(`${node} has no such lease`);
  return lease;
}

/** What the runner of this attempt proves its messages with. */
export function authorityFor(rows: Rows, node: string, number?: number): Authority {
  const attempt = attemptOf(rows, node, number);
  return {
    job: attempt.jobId,
    attempt: attempt.id,
    lease: attempt.leaseId,
    epoch: attempt.epoch,
    runner: attempt.runner,
    session: attempt.session,
    specDigest: attempt.specDigest,
  };
}
