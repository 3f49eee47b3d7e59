/**
 * The invariants of 000 §286-288 and §376 that can be read off rows, as named predicates. Asserted before every
 * commit (`brokenInvariants`), stated again in SQL, and checked after every read by the checkers.
 */
import type { AttemptRow, JobRow, LeaseRow, NodeRow, RunRow } from './model/rows.ts';
import { isAttemptTerminal, isJobActive, isJobEnded, isLeaseLive, isRunTerminal } from './model/states.ts';
import { isBlockingEnd } from './policies/verdict.ts';
import type { RunView } from './state/run-state.ts';
import { isEnded } from './state/run-state.ts';

export interface JobFacets {
  readonly job: JobRow;
  readonly attempt: AttemptRow | undefined;
  readonly lease: LeaseRow | undefined;
}

/** Each holds for every job at every commit. */
export const jobInvariants = {
  /** 000 §286.1-4: an active job has a current attempt and a current lease, nothing else has. */
  activeHasAttemptAndLease: ({ job }: JobFacets) =>
    isJobActive(job.state) === (job.currentAttempt !== null) &&
    (job.currentAttempt !== null) === (job.currentLease !== null),
  /** Leased <=> Offered, Preparing..UploadingOutputs <=> Held. */
  leaseMatchesPhase: ({ job, lease }: JobFacets) =>
    !isJobActive(job.state) || (lease !== undefined && lease.state === (job.state === 'Leased' ? 'Offered' : 'Held')),
  /** 000 §286.8: the active lease's attempt is the job's current one. */
  leaseBindsCurrentAttempt: ({ job, lease }: JobFacets) =>
    !isJobActive(job.state) ||
    (lease !== undefined && lease.attemptId === job.currentAttempt && lease.epoch === job.leaseEpoch),
  /** The attempt's phase is the job's. */
  attemptMatchesPhase: ({ job, attempt }: JobFacets) =>
    !isJobActive(job.state) ||
    (attempt !== undefined && attempt.state === job.state && attempt.number === job.attemptCount),
  /** 000 §288: attempt, lease and job name each other and the same spec. */
  attemptBoundToSpec: ({ job, attempt }: JobFacets) =>
    attempt === undefined || (attempt.jobId === job.id && attempt.specDigest === job.specDigest),
  /** 000 §286.5: success has its source on record. */
  succeededHasSource: ({ job }: JobFacets) => job.state !== 'Succeeded' || job.executionSource !== null,
  /** 000 §286.6: an ended job holds no lease. */
  endedHoldsNoLease: ({ job }: JobFacets) =>
    !isJobEnded(job.state) || (job.currentLease === null && job.currentAttempt === null),
  endedHasFinish: ({ job }: JobFacets) => isJobEnded(job.state) === (job.finishedAt !== null),
  skippedSaysWhether: ({ job }: JobFacets) => (job.state === 'Skipped') === (job.satisfies !== null),
  /** An intent has a bound while the job is held. */
  heldIntentHasBound: ({ job }: JobFacets) =>
    !isJobActive(job.state) || job.state === 'Leased' || (job.intent === null) === (job.terminateBy === null),
  retryHasTime: ({ job }: JobFacets) => job.state !== 'RetryWaiting' || job.retryNotBefore !== null,
  /** One lease per attempt: epochs and attempt numbers rise together. */
  epochEqualsAttempts: ({ job }: JobFacets) => job.leaseEpoch === job.attemptCount,
} satisfies { readonly [name: string]: (facets: JobFacets) => boolean };

export type JobInvariant = keyof typeof jobInvariants;

const entries = Object.entries(jobInvariants);

/** Names of the invariants this job breaks; empty in every correct state. */
export function brokenInvariants(view: RunView, job: JobRow): readonly string[] {
  const attempt = job.currentAttempt === null ? undefined : view.attempt(job.currentAttempt);
  const lease = job.currentLease === null ? undefined : view.lease(job.currentLease);
  const facets = { job, attempt, lease };
  const broken: string[] = [];
  for (const [name, holds] of entries) if (!holds(facets)) broken.push(name);
  return broken;
}

/** 000 §287: invariants of a whole run; O(nodes). */
export const runInvariants = {
  /** A terminal run has no open node. */
  terminalHasNoOpenNode: (run: RunRow, nodes: readonly NodeRow[]) => !isRunTerminal(run.state) || nodes.every(isEnded),
  /** A run without open nodes and intent is terminal: Settled rides in the last end. */
  settledIsTerminal: (run: RunRow, nodes: readonly NodeRow[]) =>
    isRunTerminal(run.state) || nodes.some((row) => !isEnded(row)),
  cancellingHasIntent: (run: RunRow) =>
    (run.state === 'Cancelling') === (run.intent !== null && !isRunTerminal(run.state)),
  /** An intent leaves nothing waiting. */
  intentLeavesNothingWaiting: (run: RunRow, nodes: readonly NodeRow[]) =>
    run.intent === null ||
    nodes.every((row) => isEnded(row) || (row.kind === 'job' && isJobActive(row.state) && row.state !== 'Leased')),
  timedOutHadIntent: (run: RunRow) =>
    (run.state === 'TimedOut') === (run.intent?.kind === 'TimedOut' && isRunTerminal(run.state)),
  supersededHadIntent: (run: RunRow) =>
    (run.state === 'Superseded') === (run.intent?.kind === 'Superseded' && isRunTerminal(run.state)),
  terminalHasFinish: (run: RunRow) => isRunTerminal(run.state) === (run.finishedAt !== null),
} satisfies { readonly [name: string]: (run: RunRow, nodes: readonly NodeRow[]) => boolean };

/** Every broken invariant of a run and its jobs, as `name: entity`. */
export function checkRun(view: RunView, nodes: readonly NodeRow[]): readonly string[] {
  const broken: string[] = [];
  for (const [name, holds] of Object.entries(runInvariants)) if (!holds(view.run, nodes)) broken.push(`${name}: run`);
  if (view.run.state === 'Succeeded') {
    for (const row of nodes) if (isBlockingEnd(row, view.index)) broken.push(`succeededHasNoBlockingEnd: ${row.node}`);
  }
  for (const row of nodes) {
    if (row.kind === 'job') broken.push(...brokenInvariants(view, row).map((name) => `${name}: ${row.node}`));
  }
  return broken;
}

/** At most one live lease per job, live ones belong to active jobs (000 §36, §286.6). */
export function checkLeases(view: RunView, leases: Iterable<LeaseRow>): readonly string[] {
  const broken: string[] = [];
  for (const lease of leases) {
    if (!isLeaseLive(lease.state)) continue;
    if (view.job(lease.jobIndex).currentLease !== lease.id) broken.push(`liveLeaseIsCurrent: ${lease.id}`);
    const attempt = view.attempt(lease.attemptId);
    if (attempt !== undefined && isAttemptTerminal(attempt.state)) broken.push(`liveLeaseHasLiveAttempt: ${lease.id}`);
  }
  return broken;
}
