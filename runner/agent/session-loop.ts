/**
 * One session after the other. The control plane may end a session that still works: it judged the host dead, or its
 * store was restored to an earlier time. The work of such a session is no longer current; when it is gone, the agent
 * comes back as a new session and inherits nothing (000 §268-271). A session that a newer one of the same runner
 * replaced does not come back: two agents of one identity would take it from each other for ever.
 */
import type { RunnerClock } from '../clock.ts';
import { pause } from '../clock.ts';

export interface SessionLoopOptions {
  readonly clock: RunnerClock;
  readonly random: () => number;
  readonly stop: AbortSignal;
  /** Works in the open session; the code it was ended with, or null when the agent stopped. */
  readonly serve: () => Promise<string | null>;
  /** Resolves when nothing of the ended session is at work any more. */
  readonly settle: () => Promise<void>;
  /** Says hello as a new session; null when it is welcome, else the code of the refusal. */
  readonly open: () => Promise<string | null>;
  /** Before the first return, doubled with every further one up to the maximum. */
  readonly retryMs: number;
  readonly retryMsMax: number;
}

const comesBackFrom: ReadonlySet<string> = new Set(['SessionNotActive', 'Foreign']);

/** Serves the session that is open, then its successors; resolves with the code that ended the last one, or null. */
export async function runSessions(options: SessionLoopOptions): Promise<string | null> {
  const { clock, stop } = options;
  let losses = 0;
  for (;;) {
    const since = clock.monotonic();
    const code = await options.serve();
    if (code === null || !comesBackFrom.has(code)) return code;
    await options.settle();
    // Only a session that lasted shows that the trouble is over.
    if (clock.monotonic() - since > 2 * options.retryMsMax) losses = 0;
    do {
      const ceiling = Math.min(options.retryMsMax, options.retryMs * 2 ** Math.min(losses, 20));
      await pause(clock, ceiling * (0.5 + options.random() / 2), stop);
      losses += 1;
      if (stop.aborted) return null;
    } while ((await options.open()) !== null);
    if (stop.aborted) return null;
  }
}
