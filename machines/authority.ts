/**
 * The one place that says whether a runner message counts (000 §34, §44, §290, §324): its attempt, lease, epoch,
 * runner, session and spec must still be the current ones, and the lease must not have run out.
 */
import type { Authority } from './model/commands.ts';
import type { Timestamp } from './model/ids.ts';
import type { LeaseRow } from './model/rows.ts';
import { isLeaseLive } from './model/states.ts';
import type { RunView } from './state/run-state.ts';

export type AuthorityVerdict =
  | { readonly kind: 'valid'; readonly index: number; readonly lease: LeaseRow }
  /** Names something that never belonged together: another run's job, a stranger's session. */
  | { readonly kind: 'foreign' }
  /** Was once current. */
  | { readonly kind: 'stale'; readonly index: number }
  | { readonly kind: 'specMismatch'; readonly index: number }
  | { readonly kind: 'expired'; readonly index: number };

/** When a live lease stops counting. */
export const leaseEndsAt = (lease: LeaseRow): Timestamp =>
  lease.state === 'Offered' ? lease.offerExpiresAt : lease.expiresAt;

export function authorityOf(view: RunView, message: Authority, now: Timestamp): AuthorityVerdict {
  const index = view.findJob(message.job);
  if (index === undefined) return { kind: 'foreign' };
  const row = view.node(index);
  if (row.kind !== 'job') return { kind: 'foreign' };
  const lease = row.currentLease === null ? undefined : view.lease(row.currentLease);
  const current =
    lease !== undefined &&
    row.currentAttempt === message.attempt &&
    lease.id === message.lease &&
    lease.epoch === message.epoch;
  if (!current || !isLeaseLive(lease.state)) return strangerOrStale(view, message, index);
  if (lease.runner !== message.runner || lease.session !== message.session) return { kind: 'foreign' };
  if (row.specDigest !== message.specDigest) return { kind: 'specMismatch', index };
  if (leaseEndsAt(lease) <= now) return { kind: 'expired', index };
  return { kind: 'valid', index, lease };
}

/** Only the session that once held the attempt is stale; anybody else is foreign. */
function strangerOrStale(view: RunView, message: Authority, index: number): AuthorityVerdict {
  const attempt = view.attempt(message.attempt);
  const known =
    attempt !== undefined &&
    attempt.jobId === message.job &&
    attempt.leaseId === message.lease &&
    attempt.epoch === message.epoch &&
    attempt.runner === message.runner &&
    attempt.session === message.session;
  return known ? { kind: 'stale', index } : { kind: 'foreign' };
}
