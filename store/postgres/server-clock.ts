/** The server's time between two answers: the last one heard plus what has passed here since, never behind itself. */
import type { StoreClock } from '../contract.ts';

export interface ServerClock extends StoreClock {
  /** Bound to every deciding statement: null means the server's own clock. */
  readonly fixed: () => number | null;
  /** What the server said a moment ago. */
  observe(serverNow: number): void;
}

/** Beyond this the server's clock was set, and follows; below it two answers only took differently long. */
const jitterMs = 1_000;

export function createServerClock(options: {
  /** Milliseconds of a clock that never steps, of this process. */
  readonly monotonicMs: () => number;
  /** Takes the place of the server's clock (tests). */
  readonly replacement: StoreClock | null;
}): ServerClock {
  const { monotonicMs, replacement } = options;
  if (replacement !== null) {
    return { now: () => replacement.now(), fixed: () => replacement.now(), observe: () => {} };
  }
  let heard = { serverNow: 0, at: 0 };
  const now = (): number => Math.floor(heard.serverNow + monotonicMs() - heard.at);
  return {
    now,
    fixed: () => null,
    observe(serverNow) {
      const ahead = now() - serverNow;
      if (heard.serverNow !== 0 && ahead > 0 && ahead < jitterMs) return;
      heard = { serverNow, at: monotonicMs() };
    },
  };
}
