/** Sessions that are at work as far as anybody can tell: those of processes proven dead are not. */
import type { SessionRow } from '../../machines/index.ts';
import type { Store } from '../../store/index.ts';
import { currentHost, isProvenDead } from './host-identity.ts';

export async function liveSessions(store: Store): Promise<readonly SessionRow[]> {
  const self = currentHost();
  const sessions = await store.sessions({ live: true });
  return sessions.filter((session) => session.host === null || !isProvenDead(session.host, self));
}
