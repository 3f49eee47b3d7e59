/** The person at this terminal: all permissions, and a name that is recorded with everything they do. */
import { userInfo } from 'node:os';
import type { ActorRef } from '../../actors/index.ts';

export function localActor(): ActorRef {
  return { id: `user:${osUser()}`, permissions: 'all' };
}

function osUser(): string {
  try {
    return (
      userInfo()
        .username.replace(/[^\w.@-]/g, '-')
        .slice(0, 64) || 'unknown'
    );
  } catch {
    // A container may run under a number that has no name.
    return `uid-${process.getuid?.() ?? 'unknown'}`;
  }
}
