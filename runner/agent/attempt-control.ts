/**
 * Why an attempt stops early, and who has to know. The first reason stands, except that a lost
 * authority overrides all: after that nothing is reported any more.
 */
import type { LocalPhase } from '../protocol/index.ts';

export type TimeoutKind = 'preparation' | 'execution' | 'step' | 'upload';

export type HaltReason =
  /** `confirmed`: the control plane has recorded the end already, no report is due. */
  | { readonly kind: 'cancel'; readonly intent: string; readonly confirmed: boolean }
  | { readonly kind: 'timeout'; readonly timeout: TimeoutKind; readonly ms: number }
  | { readonly kind: 'shutdown' }
  | { readonly kind: 'lost'; readonly why: string };

export interface AttemptControl {
  readonly halted: AbortSignal;
  /** The authority is gone. */
  readonly lost: AbortSignal;
  reason(): HaltReason | null;
  halt(reason: HaltReason): void;
  phase(): LocalPhase;
  enter(phase: LocalPhase): void;
  /** Monotonic; past it the keeper has killed the workload. */
  deadline(): number;
  extendDeadline(deadline: number): void;
}

export function createAttemptControl(onPhase: (phase: LocalPhase) => void): AttemptControl {
  const halted = new AbortController();
  const lost = new AbortController();
  let reason: HaltReason | null = null;
  let phase: LocalPhase = 'offered';
  let deadline = 0;
  return {
    halted: halted.signal,
    lost: lost.signal,
    reason: () => reason,
    halt(next) {
      if (next.kind === 'lost' ? reason?.kind === 'lost' : reason !== null) return;
      reason = next;
      if (next.kind === 'lost') lost.abort();
      halted.abort();
    },
    phase: () => phase,
    enter(next) {
      phase = next;
      onPhase(next);
    },
    deadline: () => deadline,
    extendDeadline(next) {
      deadline = Math.max(deadline, next);
    },
  };
}
