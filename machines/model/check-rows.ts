/**
 * What the rows of one run must agree on among each other (000 §286-288): for checkers that hold a whole run, such as
 * `store check`. Every store reports the same problem by the same code.
 */
import type { AttemptRow, JobRow, LeaseRow, NodeRow, RunRow } from './rows.ts';
import { isAttemptTerminal, isGateEnded, isJobActive, isJobEnded, isLeaseLive, isRunTerminal } from './states.ts';

export interface RowProblem {
  readonly code: string;
  readonly entity: string;
  readonly message: string;
}

export interface RowsOfRun {
  readonly run: RunRow;
  readonly nodes: readonly NodeRow[];
  readonly attempts: readonly AttemptRow[];
  readonly leases: readonly LeaseRow[];
  readonly facts: { readonly count: number; readonly first: number; readonly last: number };
}

export function checkRows(rows: RowsOfRun): readonly RowProblem[] {
  const attempts = new Map(rows.attempts.map((attempt) => [attempt.id, attempt]));
  const leases = new Map(rows.leases.map((lease) => [lease.id, lease]));
  const live = new Map<string, LeaseRow[]>();
  for (const lease of rows.leases) {
    if (isLeaseLive(lease.state)) live.set(lease.jobId, [...(live.get(lease.jobId) ?? []), lease]);
  }
  return [
    ...history(rows),
    ...ending(rows),
    ...rows.nodes.flatMap((node) => (node.kind === 'job' ? job(node, live.get(node.id) ?? [], attempts, leases) : [])),
    ...rows.attempts.flatMap((attempt) => attemptRow(attempt, leases.get(attempt.leaseId))),
  ];
}

function history({ run, facts }: RowsOfRun): readonly RowProblem[] {
  const gapless = facts.count === 0 || (facts.first === 1 && facts.last === facts.count);
  return [
    ...claim(gapless, 'FactsHaveGaps', run.id, `${facts.count} facts are numbered ${facts.first} to ${facts.last}`),
    ...claim(
      facts.last === run.sequence || (facts.count === 0 && run.sequence === 0),
      'SequenceDiffers',
      run.id,
      `the run says ${run.sequence}, its last fact is ${facts.last}`,
    ),
  ];
}

function ending({ run, nodes }: RowsOfRun): readonly RowProblem[] {
  const ended = isRunTerminal(run.state);
  const open = ended
    ? nodes.find((node) => !(node.kind === 'job' ? isJobEnded(node.state) : isGateEnded(node.state)))
    : undefined;
  return [
    ...claim(
      (run.finishedAt !== null) === ended,
      'RunFinishTime',
      run.id,
      `${run.state}, finished at ${run.finishedAt}`,
    ),
    ...claim(
      open === undefined,
      'EndedRunHasOpenNode',
      run.id,
      `${open?.node} is ${open?.state} in a run that is ${run.state}`,
    ),
    ...claim(
      run.state !== 'Cancelling' || run.intent !== null,
      'CancellingWithoutIntent',
      run.id,
      'the run is Cancelling and nothing says why',
    ),
  ];
}

function job(
  row: JobRow,
  live: readonly LeaseRow[],
  attempts: ReadonlyMap<string, AttemptRow>,
  leases: ReadonlyMap<string, LeaseRow>,
): readonly RowProblem[] {
  const attempt = row.currentAttempt === null ? undefined : attempts.get(row.currentAttempt);
  const lease = row.currentLease === null ? undefined : leases.get(row.currentLease);
  const isActive = isJobActive(row.state);
  const pointsNowhere = row.currentAttempt === null && row.currentLease === null;
  return [
    ...claim(live.length <= 1, 'TwoLiveLeases', row.id, `${live.length} leases are live`),
    ...claim(
      isActive || live.length === 0,
      'LiveLeaseOfIdleJob',
      row.id,
      `a lease is live while the job is ${row.state}`,
    ),
    ...claim(
      isActive || pointsNowhere,
      'IdleJobHasAttempt',
      row.id,
      `the job is ${row.state} and still names an attempt`,
    ),
    ...(isActive ? active(row, attempt, lease) : []),
    ...claim(
      (row.finishedAt !== null) === isJobEnded(row.state),
      'JobFinishTime',
      row.id,
      `${row.state}, finished at ${row.finishedAt}`,
    ),
    ...claim(
      row.state !== 'Succeeded' || row.executionSource !== null,
      'SuccessWithoutSource',
      row.id,
      'nothing says how it succeeded',
    ),
  ];
}

function active(row: JobRow, attempt: AttemptRow | undefined, lease: LeaseRow | undefined): readonly RowProblem[] {
  if (attempt === undefined || lease === undefined) {
    return claim(false, 'ActiveJobLacksLease', row.id, `the job is ${row.state} without a current attempt and lease`);
  }
  return [
    ...claim(
      attempt.state === row.state,
      'AttemptDiffers',
      row.id,
      `the job is ${row.state}, its attempt ${attempt.state}`,
    ),
    ...claim(
      lease.state === (row.state === 'Leased' ? 'Offered' : 'Held'),
      'LeaseDiffers',
      row.id,
      `the job is ${row.state}, its lease ${lease.state}`,
    ),
    ...claim(
      lease.attemptId === attempt.id &&
        attempt.leaseId === lease.id &&
        lease.jobId === row.id &&
        attempt.jobId === row.id,
      'AttemptAndLeaseDisagree',
      row.id,
      'the current attempt and the current lease do not belong together',
    ),
    ...claim(
      lease.epoch === row.leaseEpoch && attempt.epoch === row.leaseEpoch && attempt.number === row.attemptCount,
      'NotTheNewest',
      row.id,
      `attempt ${attempt.number} of ${row.attemptCount}, epoch ${lease.epoch} of ${row.leaseEpoch}`,
    ),
  ];
}

function attemptRow(row: AttemptRow, lease: LeaseRow | undefined): readonly RowProblem[] {
  const ended = isAttemptTerminal(row.state);
  return [
    ...claim(lease !== undefined, 'AttemptLacksLease', row.id, 'its lease is missing'),
    ...claim(
      lease === undefined || ended !== isLeaseLive(lease.state),
      'AttemptOutlivesLease',
      row.id,
      `${row.state}, lease ${lease?.state}`,
    ),
    ...claim(
      (row.finishedAt !== null) === ended,
      'AttemptFinishTime',
      row.id,
      `${row.state}, finished at ${row.finishedAt}`,
    ),
  ];
}

function claim(holds: boolean, code: string, entity: string, message: string): readonly RowProblem[] {
  return holds ? [] : [{ code, entity, message }];
}
