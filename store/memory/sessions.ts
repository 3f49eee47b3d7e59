/** Runner sessions, and the leases bound to them. */
import type { LeaseRow, SessionId, SessionRow, Timestamp } from '../../machines/index.ts';
import { isLeaseLive } from '../../machines/model/index.ts';
import type { Renewal, RenewalOutcome, Store } from '../contract.ts';
import type { MemoryState } from './state.ts';

type SessionMethods = Pick<
  Store,
  'renew' | 'openSession' | 'updateSession' | 'touchSession' | 'session' | 'sessions' | 'sessionLeases'
>;

const isLive = ({ state }: SessionRow): boolean => state === 'Active' || state === 'Draining';

export function sessionMethods(state: MemoryState): SessionMethods {
  return {
    async renew(renewals) {
      const now = state.clock.now();
      return renewals.map((renewal) => renewOne(state, renewal, now));
    },
    async openSession(session) {
      if (state.sessions.has(session.id)) return { replaced: [] };
      const older = [...state.sessions.values()].filter((each) => each.runner === session.runner && isLive(each));
      const endedAt = state.clock.now();
      for (const each of older) {
        state.sessions.set(each.id, {
          ...each,
          state: 'Replaced',
          reason: `replaced by session ${session.id}`,
          endedAt,
          version: each.version + 1,
        });
      }
      state.sessions.set(session.id, session);
      return { replaced: older.map(({ id }) => id).sort() };
    },
    async updateSession(session) {
      const old = state.sessions.get(session.id);
      if (old === undefined || !isLive(old) || old.version !== session.version - 1) return 'conflict';
      state.sessions.set(session.id, session);
      if (session.state === 'Closed') expireHeld(state, session.id, state.clock.now());
      return 'committed';
    },
    async touchSession(id) {
      const session = state.sessions.get(id);
      if (session !== undefined && isLive(session))
        state.sessions.set(id, { ...session, lastSeenAt: state.clock.now() });
    },
    async session(id) {
      return state.sessions.get(id) ?? null;
    },
    async sessions({ live }) {
      return [...state.sessions.values()]
        .filter((session) => !live || isLive(session))
        .sort((a, b) => a.openedAt - b.openedAt || (a.id < b.id ? -1 : 1));
    },
    async sessionLeases(id) {
      return liveLeases(state, id);
    },
  };
}

function liveLeases(state: MemoryState, session: SessionId): readonly LeaseRow[] {
  const found: LeaseRow[] = [];
  for (const [leaseId, run] of state.sessionLeases.get(session) ?? []) {
    const lease = run.leases.get(leaseId);
    if (lease !== undefined && isLeaseLive(lease.state)) found.push(lease);
  }
  return found.sort((a, b) => (a.runId < b.runId ? -1 : a.runId > b.runId ? 1 : a.jobIndex - b.jobIndex));
}

/** No credit and no renewal brings them back: the host of this session is gone. */
function expireHeld(state: MemoryState, session: SessionId, now: Timestamp): void {
  for (const lease of liveLeases(state, session)) {
    if (lease.state !== 'Held' || lease.expiresAt <= now) continue;
    state.runs.get(lease.runId)?.leases.set(lease.id, { ...lease, expiresAt: now });
  }
}

function renewOne(state: MemoryState, renewal: Renewal, now: Timestamp): RenewalOutcome {
  const run = state.runs.get(renewal.runId);
  const lease = run?.leases.get(renewal.lease);
  const index = run?.jobIndex.get(renewal.jobId);
  const job = index === undefined ? undefined : run?.nodes[index];
  if (run === undefined || lease?.state !== 'Held' || job?.kind !== 'job') return { kind: 'stale' };
  const isCurrent = job.currentLease === lease.id && job.currentAttempt === renewal.attempt;
  if (!isCurrent || lease.epoch !== renewal.epoch || lease.session !== renewal.session) return { kind: 'stale' };
  if (lease.expiresAt <= now) return { kind: 'expired' };
  const asked = Math.min(now + lease.ttlMs, job.terminateBy ?? Number.POSITIVE_INFINITY);
  const expiresAt = Math.max(lease.expiresAt, asked);
  run.leases.set(lease.id, { ...lease, expiresAt, renewedAt: now, creditMs: 0 });
  return { kind: 'renewed', expiresAt, intent: job.intent };
}
