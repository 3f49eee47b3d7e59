/** The attempts this agent works on, and how answers that concern several of them reach each one. */
import type { KeeperEvent } from '../lease/keeper.ts';
import { localDeadline } from '../lease/keeper.ts';
import type { Directive, MessageAuthority, RunnerReply } from '../protocol/index.ts';
import type { AttemptControl } from './attempt-control.ts';
import type { Answer } from './connection.ts';

export interface ActiveAttempt {
  readonly authority: MessageAuthority;
  readonly control: AttemptControl;
  readonly done: Promise<void>;
}

export interface ActiveAttempts {
  readonly all: ReadonlyMap<string, ActiveAttempt>;
  add(attempt: ActiveAttempt): void;
  /** What the keeper saw or did. */
  onKeeper(event: Extract<KeeperEvent, { kind: 'directive' | 'expired' | 'failed' }>): void;
  /** The answer to a resync. */
  onDirectives(reply: Extract<RunnerReply, { type: 'directives' }>, answer: Answer): void;
  idle(): Promise<void>;
}

export interface ActiveAttemptsOptions {
  readonly watch: (authority: MessageAuthority, deadline: number) => void;
  /** A slot is free again. */
  readonly onRemoved: () => void;
}

export function createActiveAttempts({ watch, onRemoved }: ActiveAttemptsOptions): ActiveAttempts {
  const all = new Map<string, ActiveAttempt>();

  function obey({ control }: ActiveAttempt, directive: Directive, deadline: number): void {
    switch (directive.kind) {
      case 'continue':
        control.extendDeadline(deadline);
        break;
      case 'cancel':
        control.extendDeadline(deadline);
        control.halt({ kind: 'cancel', intent: directive.intent, confirmed: false });
        break;
      case 'stale':
        // While the last word is being said, its answer tells more than this.
        if (control.phase() !== 'finished') control.halt({ kind: 'lost', why: 'the attempt is no longer current' });
        break;
      default:
        directive satisfies never;
    }
  }

  return {
    all,
    add(attempt) {
      all.set(attempt.authority.attempt, attempt);
      void attempt.done.finally(() => {
        all.delete(attempt.authority.attempt);
        onRemoved();
      });
    },
    onKeeper(event) {
      switch (event.kind) {
        case 'directive': {
          const attempt = all.get(event.attempt);
          if (attempt !== undefined) obey(attempt, event.directive, event.deadline);
          break;
        }
        case 'expired':
          all.get(event.attempt)?.control.halt({ kind: 'lost', why: 'the lease was not renewed in time' });
          break;
        case 'failed':
          for (const { control } of all.values()) control.halt({ kind: 'lost', why: 'the lease keeper failed' });
          break;
        default:
          event satisfies never;
      }
    },
    onDirectives(reply, { sentAt }) {
      for (const { attempt: id, directive } of reply.directives) {
        const attempt = all.get(id);
        if (attempt === undefined) continue;
        const deadline = directive.kind === 'stale' ? 0 : localDeadline(sentAt, directive.leaseMs);
        if (directive.kind !== 'stale') watch(attempt.authority, deadline);
        obey(attempt, directive, deadline);
      }
    },
    async idle() {
      while (all.size > 0) await Promise.all([...all.values()].map((attempt) => attempt.done));
    },
  };
}
