/**
 * Asking until there is an answer (000 §342, protocol M4): the same message, with the same id, again
 * and again while the answer is unknown. The first answer after a silence triggers a resync (000 §188).
 */
import type { RunnerTransport } from '../../transport/index.ts';
import type { RunnerClock } from '../clock.ts';
import { pause } from '../clock.ts';
import type { RunnerReply, RunnerRequest } from '../protocol/index.ts';

export interface Answer {
  readonly reply: RunnerReply;
  /** Monotonic time at which the answered try was sent: durations in the answer count from here. */
  readonly sentAt: number;
}

export interface Connection {
  /** Null when `signal` was aborted before an answer came. */
  ask(request: RunnerRequest, signal: AbortSignal): Promise<Answer | null>;
  /** One try; null when the answer is not known. */
  tryOnce(request: RunnerRequest, signal: AbortSignal): Promise<Answer | null>;
}

export interface ConnectionOptions {
  readonly transport: RunnerTransport;
  readonly clock: RunnerClock;
  readonly random: () => number;
  readonly requestTimeoutMs: number;
  readonly onTrouble: (message: string) => void;
  readonly onRecovered: () => void;
}

const retryMsMin = 25;
const retryMsMax = 2_000;

export function createConnection(options: ConnectionOptions): Connection {
  const { clock } = options;
  let troubled = false;

  async function tryOnce(request: RunnerRequest, signal: AbortSignal): Promise<Answer | null> {
    if (signal.aborted) return null;
    const giveUp = new AbortController();
    const cancelTimer = clock.setTimer(() => giveUp.abort(), options.requestTimeoutMs);
    const sentAt = clock.monotonic();
    try {
      const reply = await options.transport.request(request, AbortSignal.any([signal, giveUp.signal]));
      if (troubled) {
        troubled = false;
        options.onRecovered();
      }
      return { reply, sentAt };
    } catch (cause) {
      // A request given up on purpose says nothing about the connection.
      if (!troubled && !signal.aborted) {
        troubled = true;
        options.onTrouble(cause instanceof Error ? cause.message : String(cause));
      }
      return null;
    } finally {
      cancelTimer();
    }
  }

  return {
    tryOnce,
    async ask(request, signal) {
      for (let tries = 0; !signal.aborted; tries += 1) {
        const answer = await tryOnce(request, signal);
        if (answer !== null && !isBusy(answer.reply)) return answer;
        const ceiling = Math.min(retryMsMax, retryMsMin * 2 ** Math.min(tries, 10));
        await pause(clock, retryMsMin + options.random() * ceiling, signal);
      }
      return null;
    },
  };
}

function isBusy(reply: RunnerReply): boolean {
  return reply.type === 'rejected' && reply.code === 'Overloaded';
}
