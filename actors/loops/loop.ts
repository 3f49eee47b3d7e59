/** Runs a pass again and again: after a delay it chooses, or at once when poked. Errors are reported and retried. */
import type { Ports } from '../ports.ts';

export interface Loop {
  start(): void;
  /** Runs the pass soon, even if its delay is not over. */
  poke(): void;
  /** No further pass begins; waits for the one under way. */
  stop(): Promise<void>;
  /** Resolves when the pass under way, if any, is over. */
  settled(): Promise<void>;
}

/** `pass` gives the ms until it wants to run again. */
export function createLoop(
  name: string,
  ports: Pick<Ports, 'wake' | 'report'>,
  errorDelayMs: number,
  pass: () => Promise<number>,
): Loop {
  let running = false;
  let poked = false;
  let stopped = true;
  let current: Promise<void> = Promise.resolve();
  let cancel = (): void => {};

  const run = (): void => {
    cancel();
    if (stopped || running) {
      poked = true;
      return;
    }
    running = true;
    poked = false;
    current = pass()
      .catch((error: unknown) => {
        ports.report(name, error);
        return errorDelayMs;
      })
      .then((delayMs) => {
        running = false;
        if (stopped) return;
        cancel = ports.wake.setTimer(run, poked ? 0 : delayMs);
      });
  };

  return {
    start() {
      stopped = false;
      run();
    },
    poke: run,
    settled: () => current,
    async stop() {
      stopped = true;
      cancel();
      await current;
    },
  };
}
