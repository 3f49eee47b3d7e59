/**
 * The agent's clock. Deadlines use `monotonic`, which nobody can set; wall time only ages files.
 * The control plane's clock is never known here: durations arrive, and are counted from when the
 * request was sent, so that a local deadline can only be earlier than the server's (protocol M3).
 */
export type CancelTimer = () => void;

export interface RunnerClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds from an arbitrary origin that is the same in every thread of this process. */
  monotonic(): number;
  setTimer(run: () => void, ms: number): CancelTimer;
}

/** Longer timers would fire at once in Node. */
const timerMsMax = 2 ** 31 - 1;

export const systemClock: RunnerClock = {
  now: () => Date.now(),
  monotonic: () => Number(process.hrtime.bigint() / 1_000n) / 1_000,
  setTimer(run, ms) {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), timerMsMax));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms`, or as soon as `signal` is aborted. */
export function pause(clock: RunnerClock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.setTimer(end, ms);
    if (signal?.aborted) end();
    else signal?.addEventListener('abort', end, { once: true });
  });
}
