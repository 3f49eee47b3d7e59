/** Runner sessions: hello, drain, bye, and the proof that a host is dead (000 §191-193, §262-271). */
import type { SessionId, SessionRow } from '../../machines/index.ts';
import { sessionChart, sessionStates, step } from '../../machines/index.ts';
import type { RunnerReply, RunnerRequestOf } from '../../runner/protocol/index.ts';
import type { Directory } from '../directory.ts';
import { internal } from '../envelope.ts';
import type { Ports } from '../ports.ts';
import type { SessionCache } from '../sessions.ts';

export interface SessionService {
  hello(message: RunnerRequestOf<'hello'>): Promise<RunnerReply>;
  drain(session: SessionId, runner: string): Promise<RunnerReply>;
  close(session: SessionId, runner: string | null, reason: string): Promise<RunnerReply>;
}

export function createSessionService(
  ports: Ports & { readonly sessions: SessionCache },
  directory: Directory,
): SessionService {
  /** A session that takes no more work gives its offers back; one whose host is dead also loses its leases at once. */
  const releaseLeases = async (session: SessionId, closed: boolean): Promise<void> => {
    const leases = await ports.store.sessionLeases(session);
    await Promise.all(
      leases.map(async (lease) => {
        const target = { job: lease.jobId, lease: lease.id };
        if (lease.state === 'Offered')
          await directory.actor(lease.runId).send(internal({ type: 'RevokeLease', ...target }, 'system:sessions'));
        else if (closed)
          await directory.actor(lease.runId).send(internal({ type: 'ExpireLease', ...target }, 'system:sessions'));
      }),
    );
  };

  const change = async (
    id: SessionId,
    runner: string | null,
    event: 'DrainRequested' | 'SessionClosed',
    reason: string,
  ): Promise<RunnerReply> => {
    for (;;) {
      ports.sessions.forget(id);
      const row = await ports.store.session(id);
      if (row === null || (runner !== null && row.runner !== runner)) {
        return { type: 'rejected', code: 'Foreign', message: 'there is no such session of this runner' };
      }
      const decided = step(sessionChart, row.state, event, { tokenMatches: true, due: true });
      if (decided.kind !== 'move') {
        // Whoever ended it may have died before its leases were seen to.
        if (row.state !== 'Active') await releaseLeases(id, row.state === 'Closed');
        return { type: 'ok' };
      }
      if ((await ports.store.updateSession(moved(row, decided.target, reason, ports.store.now()))) === 'conflict')
        continue;
      ports.sessions.forget(id);
      await releaseLeases(id, decided.effects.includes('expireHeld'));
      return { type: 'ok' };
    }
  };

  return {
    async hello(message) {
      const now = ports.store.now();
      const { replaced } = await ports.store.openSession({
        id: message.session as SessionId,
        runner: message.runner as SessionRow['runner'],
        name: message.name,
        host: message.host ?? null,
        capabilities: message.capabilities,
        slots: message.slots,
        state: 'Active',
        reason: null,
        openedAt: now,
        lastSeenAt: now,
        endedAt: null,
        version: 1,
      });
      ports.sessions.forget(message.session as SessionId);
      for (const old of replaced) {
        ports.sessions.forget(old);
        await releaseLeases(old, false);
      }
      const { leaseTtlMs } = ports.limits;
      return { type: 'welcome', leaseTtlMs, heartbeatEveryMs: Math.max(1, Math.floor(leaseTtlMs / 3)) };
    },
    drain: (session, runner) => change(session, runner, 'DrainRequested', 'drain'),
    close: (session, runner, reason) => change(session, runner, 'SessionClosed', reason),
  };
}

function moved(row: SessionRow, target: string, reason: string, now: number): SessionRow {
  const state = sessionStates.find((one) => one === target);
  if (state === undefined) throw new Error(`${target} is no session state`);
  const ended = state === 'Closed' || state === 'Replaced';
  return { ...row, state, reason, endedAt: ended ? now : null, version: row.version + 1 };
}
