/**
 * Grants (000 §37, §246-249): highest priority first, then oldest; only jobs whose capabilities the session has; a
 * session that refused a job gets it again only after another one had the chance, or a backoff. Candidates are read
 * without locks; the compare-and-set of the run decides who gets one.
 */
import type { AttemptId, LeaseId, RunAggregate, SessionRow } from '../../machines/index.ts';
import type { Offer } from '../../runner/protocol/index.ts';
import type { EligibleJob } from '../../store/index.ts';
import type { Directory } from '../directory.ts';
import { internal } from '../envelope.ts';
import type { Ports } from '../ports.ts';
import { tryCache } from '../services/action-cache.ts';

export interface Grants {
  /** Up to `max` new offers for the session, within its slots. */
  offersFor(session: SessionRow, max: number): Promise<readonly Offer[]>;
}

export function createGrants(ports: Ports, directory: Directory): Grants {
  // Jobs another poll of this process is just granting; a hint that saves lost compare-and-sets.
  const granting = new Set<string>();

  const grantOne = async (session: SessionRow, candidate: EligibleJob): Promise<Offer | null> => {
    if (candidate.cacheKey !== null && (await tryCache(ports, directory, candidate.runId, candidate.jobId)))
      return null;
    const attempt = ports.ids.uuid() as AttemptId;
    const lease = ports.ids.uuid() as LeaseId;
    const actor = directory.actor(candidate.runId);
    const result = await actor.send(
      internal(
        {
          type: 'GrantLease',
          job: candidate.jobId,
          attempt,
          lease,
          runner: session.runner,
          session: session.id,
          capabilities: session.capabilities,
        },
        'system:scheduler',
      ),
    );
    if (result.outcome !== 'accepted') return null;
    return actor.read((aggregate) => offerOf(aggregate, lease, ports.store.now()));
  };

  /** A candidate that cannot be granted keeps no other offer from its runner. */
  const grantAlone = async (session: SessionRow, candidate: EligibleJob): Promise<Offer | null> => {
    try {
      return await grantOne(session, candidate);
    } catch (error) {
      ports.report(`grant of job ${candidate.jobId}`, error);
      return null;
    }
  };

  return {
    async offersFor(session, max) {
      const held = (await ports.store.sessionLeases(session.id)).length;
      const free = Math.min(max, session.slots - held);
      if (free <= 0) return [];
      const now = ports.store.now();
      const found = await ports.store.eligible({
        capabilities: session.capabilities,
        limit: free * 2 + granting.size + 16,
      });
      const chosen = found
        .filter((one) => !granting.has(one.jobId) && !mustWait(one, session, now, ports.limits.refusalBackoffMs))
        .slice(0, free);
      for (const one of chosen) granting.add(one.jobId);
      try {
        const offers = await Promise.all(chosen.map((one) => grantAlone(session, one)));
        return offers.filter((offer) => offer !== null);
      } finally {
        for (const one of chosen) granting.delete(one.jobId);
      }
    },
  };
}

/** The session refused this job last, nobody else has had it since, and its backoff is not over. */
export function mustWait(
  job: Pick<EligibleJob, 'refusedBy'>,
  session: Pick<SessionRow, 'id'>,
  now: number,
  backoffMs: number,
): boolean {
  const last = job.refusedBy.at(-1);
  return last !== undefined && last.session === session.id && now - last.at < backoffMs;
}

/** What the agent is sent: its authority, the job's spec, and where its inputs are. */
export function offerOf(aggregate: RunAggregate, leaseId: LeaseId, now: number): Offer | null {
  const lease = aggregate.lease(leaseId);
  if (lease === undefined || lease.state !== 'Offered') return null;
  const job = aggregate.job(lease.jobIndex);
  const planned = aggregate.index.job(lease.jobIndex);
  return {
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
    jobName: job.node,
    runName: aggregate.run.name,
    attemptNumber: job.attemptCount,
    offerMs: Math.max(0, lease.offerExpiresAt - now),
    leaseTtlMs: lease.ttlMs,
    spec: { ...planned.spec },
    inputs: inputsOf(aggregate, planned.spec.inputsFrom),
  };
}

function inputsOf(aggregate: RunAggregate, names: readonly string[]): Offer['inputs'] {
  return names.flatMap((name) => {
    const index = aggregate.index.byName.get(name);
    if (index === undefined) return [];
    const row = aggregate.node(index);
    return row.kind === 'job' && row.state === 'Succeeded' ? [{ job: row.node, outputs: [...row.outputs] }] : [];
  });
}
