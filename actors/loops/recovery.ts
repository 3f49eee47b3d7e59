/** Start-up (000 §166-168): the outage is credited first, dead hosts are proven dead, then every active run is looked at. */
import type { Directory } from '../directory.ts';
import type { SessionService } from '../gateway/session-service.ts';
import type { Heartbeat } from '../heartbeat.ts';
import type { ReconcilerPorts } from './reconciler.ts';
import { reconcileAll } from './reconciler.ts';

export interface RecoveryPorts extends ReconcilerPorts {
  readonly heartbeat: Heartbeat;
  readonly sessionService: SessionService;
  /** Whether a session's host process is known to be gone; false when in doubt. */
  readonly isHostDead: (host: string) => boolean;
}

export async function recover(ports: RecoveryPorts, directory: Directory): Promise<void> {
  await ports.heartbeat.beat();
  for (const session of await ports.store.sessions({ live: true })) {
    if (session.host !== null && ports.isHostDead(session.host)) {
      await ports.sessionService.close(session.id, null, 'the host process is gone');
    }
  }
  await reconcileAll(ports, directory, 'system:recovery');
}
