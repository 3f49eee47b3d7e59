/** Offers, and the inputs that come with them or are asked for later; both always fit a message (protocol M5). */
import type { AttemptId, JobId, JobRow, LeaseId, RunAggregate, SessionRow } from '../../machines/index.ts';
import type { JobInputs, Offer } from '../../runner/protocol/index.ts';
import { encodedBytes, offerInputsBytesMax } from '../../runner/protocol/index.ts';

export interface InputsPage {
  readonly inputs: JobInputs[];
  /** Where the rest begins; null when this is all. */
  readonly next: number | null;
}

/** What the agent is sent: its authority, the job's spec, and where its inputs are. */
export function offerOf(aggregate: RunAggregate, leaseId: LeaseId, now: number): Offer | null {
  const lease = aggregate.lease(leaseId);
  if (lease === undefined || lease.state !== 'Offered' || lease.offerExpiresAt <= now) return null;
  const job = aggregate.job(lease.jobIndex);
  return makeOffer(aggregate, job, {
    authority: {
      run: lease.runId,
      job: lease.jobId,
      attempt: lease.attemptId,
      lease: lease.id,
      epoch: lease.epoch,
      runner: lease.runner,
      session: lease.session,
      specDigest: job.specDigest,
    },
    attemptNumber: job.attemptCount,
    offerMs: Math.max(0, lease.offerExpiresAt - now),
    leaseTtlMs: lease.ttlMs,
  });
}

interface Prospect {
  readonly session: Pick<SessionRow, 'id' | 'runner'>;
  readonly job: JobId;
  readonly attempt: AttemptId;
  readonly lease: LeaseId;
}

/** Bytes of the offer this grant would lead to, or a little more; null where there is no such job. */
export function offerBytes(aggregate: RunAggregate, { session, job: id, attempt, lease }: Prospect): number | null {
  const index = aggregate.findJob(id);
  if (index === undefined) return null;
  const job = aggregate.job(index);
  const { runner } = session;
  const names = { run: aggregate.run.id, job: id, attempt, lease, runner, session: session.id };
  const longest = Number.MAX_SAFE_INTEGER;
  const authority = { ...names, epoch: longest, specDigest: job.specDigest };
  return encodedBytes(
    makeOffer(aggregate, job, { authority, attemptNumber: longest, offerMs: longest, leaseTtlMs: longest }),
  );
}

function makeOffer(
  aggregate: RunAggregate,
  job: JobRow,
  more: Pick<Offer, 'authority' | 'attemptNumber' | 'offerMs' | 'leaseTtlMs'>,
): Offer {
  const { spec } = aggregate.index.job(job.index);
  const { inputs, next } = inputsPage(aggregate, spec.inputsFrom, 0, offerInputsBytesMax);
  return {
    ...more,
    jobName: job.node,
    runName: aggregate.run.name,
    spec: { ...spec },
    inputs,
    ...(next === null ? {} : { moreInputs: next }),
  };
}

/** Of `{"job":,"outputs":[]},` around a job's outputs. */
const aroundJobBytes = 24;

/** Outputs from the place `after` on, as many as `bytesMax` holds. Ended jobs never change, so a place stays one. */
export function inputsPage(
  aggregate: RunAggregate,
  names: readonly string[],
  after: number,
  bytesMax: number,
): InputsPage {
  const inputs: JobInputs[] = [];
  let place = 0;
  let bytes = 0;
  for (const name of names) {
    const outputs = outputsOf(aggregate, name);
    const fresh = outputs.slice(Math.max(0, after - place));
    place += outputs.length - fresh.length;
    if (fresh.length === 0) continue;
    const page: JobInputs = { job: name, outputs: [] };
    bytes += encodedBytes(name) + aroundJobBytes;
    for (const output of fresh) {
      bytes += encodedBytes(output) + 1;
      if (bytes > bytesMax) return { inputs: page.outputs.length === 0 ? inputs : [...inputs, page], next: place };
      page.outputs.push(output);
      place += 1;
    }
    inputs.push(page);
  }
  return { inputs, next: null };
}

function outputsOf(aggregate: RunAggregate, name: string): JobRow['outputs'] {
  const index = aggregate.index.byName.get(name);
  const row = index === undefined ? undefined : aggregate.node(index);
  return row?.kind === 'job' && row.state === 'Succeeded' ? row.outputs : [];
}
