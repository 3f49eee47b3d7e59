/** A command on its way to a run: who sent it, under which id, and who waits for the answer. */
import type { Command, CorrelationId, EventId, MessageId } from '../machines/index.ts';
import type { TimerClaim } from '../store/index.ts';
import type { CommandResult } from './api.ts';

export interface Envelope {
  readonly command: Command;
  /** Actor id, recorded with every fact. */
  readonly actor: string;
  readonly messageId: MessageId | null;
  readonly correlationId: CorrelationId | null;
  readonly causationId: EventId | null;
  /** Privileged actions leave an audit entry in the same commit (000 §281). */
  readonly audited: { readonly action: string; readonly entity: string; readonly message: string | null } | null;
  /** The claim this command settles, so that a timer fires in the commit it causes. */
  readonly timer: TimerClaim | null;
}

export interface Waiting {
  readonly envelope: Envelope;
  readonly resolve: (result: CommandResult) => void;
  readonly reject: (error: unknown) => void;
}

/** A command of the control plane itself. */
export function internal(command: Command, actor: string, more: Partial<Envelope> = {}): Envelope {
  return {
    command,
    actor,
    messageId: null,
    correlationId: null,
    causationId: null,
    audited: null,
    timer: null,
    ...more,
  };
}
