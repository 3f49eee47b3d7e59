/** Tells which step is at work: at most one message under way, the newest wins, losses do not matter (000 §117). */
import type { AttemptContext } from './attempt-context.ts';
import { authorised } from './attempt-context.ts';

export interface Progress {
  report(step: string, fraction: number): void;
  close(): void;
}

export function createProgress(context: AttemptContext): Progress {
  const { clock } = context.options;
  let newest: { readonly step: string; readonly fraction: number } | null = null;
  let waiting = false;
  let closed = false;
  let cancelTimer: () => void = () => undefined;

  async function send(): Promise<void> {
    if (newest === null || closed) {
      waiting = false;
      return;
    }
    const { step, fraction } = newest;
    newest = null;
    await context.connection.tryOnce(
      { type: 'progress', ...authorised(context), step, fraction },
      context.control.halted,
    );
    if (!closed) cancelTimer = clock.setTimer(() => void send(), context.tuning.progressEveryMs);
  }
  return {
    report(step, fraction) {
      newest = { step, fraction };
      if (waiting) return;
      waiting = true;
      void send();
    },
    close() {
      closed = true;
      cancelTimer();
    },
  };
}
