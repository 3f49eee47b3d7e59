/**
 * Grants (000 §37, §246-249): highest priority first, then oldest; only jobs whose capabilities the session has; a
 * session that refused a job gets it again only after another one had the chance, or a backoff. Candidates are read
 * without locks; the compare-and-set of the run decides who gets one. What does not fit the reply is not granted.
 */
import type { AttemptId, LeaseId, LeaseRow, SessionRow, Timestamp } from '../../machines/index.ts';
import type { Offer } from '../../runner/protocol/index.ts';
import { encodedBytes, messageBytesMax } from '../../runner/protocol/index.ts';
import type { EligibleJob } from '../../store/index.ts';
import { StoreUnavailable } from '../../store/index.ts';
import type { Directory } from '../directory.ts';
import { internal } from '../envelope.ts';
import type { Ports } from '../ports.ts';
import { tryCache } from '../services/action-cache.ts';
import { offerBytes, offerOf } from './offer.ts';

export interface Grants {
  /**
   * Up to `max` offers for the session, within its slots and within one message: first those that stand already, since
   * the answer that brought them may have been lost, then new ones.
   */
  offersFor(session: SessionRow, max: number): Promise<Offers>;
}

export interface Offers {
  readonly offers: Offer[];
  /** Something was left out because it would not have fitted. */
  readonly more: boolean;
}

interface Grantable {
  readonly candidate: EligibleJob;
  readonly attempt: AttemptId;
  readonly lease: LeaseId;
  /** Of the offer. */
  readonly bytes: number;
}

/** Bytes of offers in one reply; the rest of the message is for what is around them. */
const offersBytesMax = messageBytesMax - 256;

export function createGrants(ports: Ports, directory: Directory): Grants {
  // Jobs another poll of this process is just granting; a hint that saves lost compare-and-sets.
  const granting = new Set<string>();
  // Jobs that could not be granted, and when, oldest first: for a while all others come before them.
  const failedAt = new Map<string, Timestamp>();

  const measure = async (session: SessionRow, candidate: EligibleJob): Promise<Grantable | null> => {
    const attempt = ports.ids.uuid() as AttemptId;
    const lease = ports.ids.uuid() as LeaseId;
    const prospect = { session, job: candidate.jobId, attempt, lease };
    const bytes = await directory.actor(candidate.runId).read((aggregate) => offerBytes(aggregate, prospect));
    if (bytes === null) return null;
    if (bytes > offersBytesMax) throw new Error(`its offer takes ${bytes} bytes and fits no message`);
    return { candidate, attempt, lease, bytes };
  };

  const grantOne = async (session: SessionRow, { candidate, attempt, lease }: Grantable): Promise<Offer | null> => {
    if (candidate.cacheKey !== null && (await tryCache(ports, directory, candidate.runId, candidate.jobId)))
      return null;
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

  const forgetFailures = (now: Timestamp): void => {
    for (const [job, at] of failedAt) {
      if (now - at < ports.limits.refusalBackoffMs) return;
      failedAt.delete(job);
    }
  };

  /** A candidate that cannot be granted keeps no other offer from its runner. */
  const alone = async <T>(candidate: EligibleJob, work: Promise<T>): Promise<T | null> => {
    try {
      return await work;
    } catch (error) {
      // A store out of reach says nothing about the job.
      if (!(error instanceof StoreUnavailable)) {
        failedAt.delete(candidate.jobId);
        failedAt.set(candidate.jobId, ports.store.now());
      }
      ports.report(`grant of job ${candidate.jobId}`, error);
      return null;
    }
  };

  const standingOffers = async (leases: readonly LeaseRow[], max: number): Promise<Offer[]> => {
    const offered = leases.filter(({ state }) => state === 'Offered').slice(0, max);
    const offers = await Promise.all(
      offered.map(async (lease) => {
        const actor = directory.actor(lease.runId);
        // Another process may have granted it.
        await actor.refresh();
        return actor.read((aggregate) => offerOf(aggregate, lease.id, ports.store.now()));
      }),
    );
    let bytes = 0;
    return offers.filter((offer): offer is Offer => {
      if (offer === null) return false;
      bytes += encodedBytes(offer) + 1;
      return bytes <= offersBytesMax;
    });
  };

  return {
    async offersFor(session, max) {
      const leases = await ports.store.sessionLeases(session.id);
      const standing = await standingOffers(leases, max);
      const free = Math.min(max - standing.length, session.slots - leases.length);
      if (free <= 0) return { offers: standing, more: false };
      const now = ports.store.now();
      forgetFailures(now);
      const found = await ports.store.eligible({
        capabilities: session.capabilities,
        limit: free * 2 + granting.size + failedAt.size + 16,
      });
      const open = found.filter(
        (one) => !granting.has(one.jobId) && !mustWait(one, session, now, ports.limits.refusalBackoffMs),
      );
      const failed = open.filter(({ jobId }) => failedAt.has(jobId));
      const chosen = [...open.filter(({ jobId }) => !failedAt.has(jobId)), ...failed].slice(0, free);
      for (const one of chosen) granting.add(one.jobId);
      try {
        const measured = await Promise.all(chosen.map((one) => alone(one, measure(session, one))));
        const taken = standing.reduce((bytes, offer) => bytes + encodedBytes(offer) + 1, 0);
        const { fitting, more } = firstFitting(
          measured.filter((one) => one !== null),
          offersBytesMax - taken,
        );
        const offers = await Promise.all(fitting.map((one) => alone(one.candidate, grantOne(session, one))));
        return { offers: [...standing, ...offers.filter((offer) => offer !== null)], more };
      } finally {
        for (const one of chosen) granting.delete(one.jobId);
      }
    },
  };
}

/** As many of the first as one message holds: a smaller one further back does not overtake. */
function firstFitting(
  grantable: readonly Grantable[],
  bytesMax: number,
): {
  readonly fitting: readonly Grantable[];
  readonly more: boolean;
} {
  let bytes = 0;
  const end = grantable.findIndex((one) => {
    bytes += one.bytes + 1;
    return bytes > bytesMax;
  });
  return end === -1 ? { fitting: grantable, more: false } : { fitting: grantable.slice(0, end), more: true };
}

/** The session refused this job last, nobody else has had it since, and its backoff is not over. */
function mustWait(
  job: Pick<EligibleJob, 'refusedBy'>,
  session: Pick<SessionRow, 'id'>,
  now: number,
  backoffMs: number,
): boolean {
  const last = job.refusedBy.at(-1);
  return last !== undefined && last.session === session.id && now - last.at < backoffMs;
}
