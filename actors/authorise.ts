/** The one place that says who may do what (000 §327-328). A refusal is put on record by the caller. */
import type { ActorRef, Permission } from './api.ts';

export function isAllowed(actor: ActorRef, permission: Permission): boolean {
  return actor.permissions === 'all' || actor.permissions.has(permission);
}

/** The control plane acting by itself. */
export const systemActor = (part: string): ActorRef => ({ id: `system:${part}`, permissions: 'all' });
