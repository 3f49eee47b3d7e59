/** How long one renewal lasts for a job's connectivity policy (000 §275-277). */
import type { ConnectivityPolicy } from '../plan/plan.ts';

/** ms of one renewal: the fleet's ttl plus what the job may work unheard. */
export function leaseTtlMs(policy: ConnectivityPolicy, ttlMs: number): number {
  switch (policy.kind) {
    case 'continuous':
      return ttlMs;
    case 'grace':
    case 'offline_authorized':
      return ttlMs + policy.extraMs;
  }
}
