/** Between the wire and the core: an authority becomes one of branded ids, times become durations. */
import type { Authority, DirectiveValue } from '../../machines/index.ts';
import type { Directive, MessageAuthority, RunnerReply } from '../../runner/protocol/index.ts';

export function toAuthority(wire: MessageAuthority): Authority {
  const { job, attempt, lease, epoch, runner, session, specDigest } = wire;
  return { job, attempt, lease, epoch, runner, session, specDigest } as Authority;
}

/** Runners keep their own monotonic deadlines (architecture: time). */
export function toWire(directive: DirectiveValue, now: number): Directive {
  switch (directive.kind) {
    case 'continue':
      return { kind: 'continue', leaseMs: Math.max(0, directive.expiresAt - now) };
    case 'cancel':
      return { kind: 'cancel', intent: directive.intent.kind, leaseMs: Math.max(0, directive.expiresAt - now) };
    case 'stale':
      return { kind: 'stale' };
  }
}

export const rejected = (code: string, message: string): RunnerReply => ({ type: 'rejected', code, message });
