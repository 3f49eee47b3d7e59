/**
 * Time as a test wants it: one clock that moves only when told, and the timers that wait on it. What a process would do
 * "soon" is a microtask, so that a test needs no real time at all.
 */
import type { WakeClock } from '../../actors/index.ts';
import type { StoreClock } from '../../store/index.ts';

export interface ManualTime {
  readonly clock: StoreClock;
  readonly wake: WakeClock;
  now(): number;
  advance(ms: number): void;
  /** Calls back every timer that is due, in the order they became due; gives their number. */
  fireDue(): number;
  /** Timers that wait; a runtime that was stopped leaves none. */
  readonly waiting: number;
}

export function createManualTime(startAt = 1_750_000_000_000): ManualTime {
  let nowMs = startAt;
  let count = 0;
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>();
  return {
    clock: { now: () => nowMs },
    wake: {
      setTimer(callback, delayMs) {
        count += 1;
        const key = count;
        timers.set(key, { at: nowMs + Math.max(0, delayMs), callback });
        return () => timers.delete(key);
      },
      soon: (callback) => queueMicrotask(callback),
    },
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
    fireDue() {
      const due = [...timers].filter(([, timer]) => timer.at <= nowMs).sort((a, b) => a[1].at - b[1].at || a[0] - b[0]);
      for (const [key] of due) timers.delete(key);
      for (const [, timer] of due) timer.callback();
      return due.length;
    },
    get waiting() {
      return timers.size;
    },
  };
}
