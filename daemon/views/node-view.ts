/** One line for each job and gate of a run (000 §316). */
import type { AttemptRow, GateRow, JobRow } from '../../machines/index.ts';
import { publicId, publicIdOrText } from '../ids/index.ts';
import type { ReasonView } from './reason-view.ts';
import { reasonView } from './reason-view.ts';
import { isoTimeOrNull } from './time.ts';

export interface JobLine {
  readonly kind: 'job';
  readonly id: string;
  readonly name: string;
  readonly matrix: string | null;
  readonly state: JobRow['state'];
  readonly intent: string | null;
  readonly reason: ReasonView | null;
  readonly failureClass: string | null;
  readonly required: boolean;
  readonly failureImpact: JobRow['failureImpact'];
  readonly executionSource: JobRow['executionSource'];
  readonly attempts: number;
  readonly runner: string | null;
  /** How long it has waited for a runner, or waited before the current attempt. */
  readonly queueMs: number | null;
  /** Of the work: from the runner's acceptance to the end, or to now. */
  readonly durationMs: number | null;
  readonly workloadFailures: number;
  readonly infrastructureFailures: number;
  readonly retryNotBefore: string | null;
}

export interface GateView {
  readonly kind: 'gate';
  readonly id: string;
  readonly name: string;
  readonly state: GateRow['state'];
  readonly reason: ReasonView | null;
  /** Null: its prerequisites are not satisfied yet, nobody can decide. */
  readonly openedAt: string | null;
  readonly expiresAt: string | null;
  readonly decidedBy: string | null;
  readonly finishedAt: string | null;
}

interface JobAround {
  readonly now: number;
  readonly attempt: AttemptRow | null;
}

export function jobLine(job: JobRow, { now, attempt }: JobAround): JobLine {
  return {
    kind: 'job',
    id: publicId('job', job.id),
    name: job.node,
    matrix: job.matrixGroup,
    state: job.state,
    intent: job.intent?.kind ?? null,
    reason: reasonView(job.reason),
    failureClass: job.failureClass,
    required: job.required,
    failureImpact: job.failureImpact,
    executionSource: job.executionSource,
    attempts: job.attemptCount,
    runner: attempt === null ? null : publicIdOrText('runner', attempt.runner),
    queueMs: queueMs(job, now),
    durationMs: durationMs(job, now),
    workloadFailures: job.workloadFailures,
    infrastructureFailures: job.infrastructureFailures,
    retryNotBefore: isoTimeOrNull(job.retryNotBefore),
  };
}

function queueMs(job: JobRow, now: number): number | null {
  if (job.eligibleAt === null) return null;
  if (job.state === 'Eligible') return Math.max(0, now - job.eligibleAt);
  return job.leasedAt === null || job.leasedAt < job.eligibleAt ? null : job.leasedAt - job.eligibleAt;
}

function durationMs(job: JobRow, now: number): number | null {
  const began = job.preparingAt ?? job.startedAt;
  const isWaiting = job.state === 'RetryWaiting' || job.state === 'Eligible' || job.state === 'Leased';
  return began === null || isWaiting ? null : Math.max(0, (job.finishedAt ?? now) - began);
}

export function gateView(gate: GateRow): GateView {
  return {
    kind: 'gate',
    id: publicId('gate', gate.id),
    name: gate.node,
    state: gate.state,
    reason: reasonView(gate.reason),
    openedAt: isoTimeOrNull(gate.openedAt),
    expiresAt: isoTimeOrNull(gate.expiresAt),
    decidedBy: gate.decidedBy,
    finishedAt: isoTimeOrNull(gate.finishedAt),
  };
}
