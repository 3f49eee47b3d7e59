/** How a phase of an attempt ended. Expected ends are values; only broken invariants throw. */
import type { ProcessExitReport } from '../protocol/index.ts';
import { untilAborted } from '../until-aborted.ts';

export interface AttemptFailure {
  readonly failureClass: string;
  /** For infrastructure classes: may another attempt succeed? */
  readonly transient: boolean;
  readonly exit: ProcessExitReport | null;
  readonly step: string | null;
  readonly stepIndex: number | null;
  readonly message: string;
}

export type Outcome<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly failure: AttemptFailure }
  /** The attempt's control says why. */
  | { readonly kind: 'halted' };

export const halted = { kind: 'halted' } as const;

export function done<T>(value: T): Outcome<T> {
  return { kind: 'done', value };
}

export function failed(failureClass: string, message: string, more: Partial<AttemptFailure> = {}): Outcome<never> {
  const base = { failureClass, transient: false, exit: null, step: null, stepIndex: null, message };
  return { kind: 'failed', failure: { ...base, ...more } };
}

/** Stops waiting when the signal is aborted, also for work that does not listen to it (a hung mount, a pipe). */
export async function unlessHalted<T>(work: Promise<Outcome<T>>, signal: AbortSignal): Promise<Outcome<T>> {
  try {
    return await untilAborted(work, signal);
  } catch (cause) {
    if (signal.aborted) return halted;
    throw cause;
  }
}

export function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
