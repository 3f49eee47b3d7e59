/** Asks for offers when a doorbell rings, a slot becomes free, or the interval is over (000 §189). */
import type { RunnerTransport } from '../../transport/index.ts';
import type { RunnerClock } from '../clock.ts';
import { pause } from '../clock.ts';
import type { Offer } from '../protocol/index.ts';

export type Polled =
  | { readonly kind: 'offers'; readonly offers: readonly Offer[]; readonly more: boolean }
  | { readonly kind: 'unknown' }
  /** The session is not served any more. */
  | { readonly kind: 'refused'; readonly code: string };

export interface PollLoop {
  /** Something changed: look again now. */
  wake(): void;
  /** Resolves when the loop has ended, with the code it was refused with, if any. */
  readonly ended: Promise<string | null>;
}

export interface PollLoopOptions {
  readonly transport: RunnerTransport;
  readonly clock: RunnerClock;
  readonly everyMs: number;
  readonly stop: AbortSignal;
  readonly slotsFree: () => number;
  readonly poll: (max: number) => Promise<Polled>;
  readonly take: (offer: Offer) => void;
}

export function startPollLoop(options: PollLoopOptions): PollLoop {
  let nap = new AbortController();
  let rung = false;
  const wake = () => {
    rung = true;
    nap.abort();
  };
  const unsubscribe = options.transport.onDoorbell?.(wake);
  options.stop.addEventListener('abort', wake, { once: true });

  async function loop(): Promise<string | null> {
    while (!options.stop.aborted) {
      rung = false;
      nap = new AbortController();
      const free = options.slotsFree();
      if (free > 0) {
        const polled = await options.poll(free);
        if (options.stop.aborted) return null;
        if (polled.kind === 'refused') return polled.code;
        if (polled.kind === 'offers') {
          for (const offer of polled.offers) options.take(offer);
          if (polled.more && polled.offers.length > 0) continue;
        }
      }
      // A ring during the poll may concern an offer the answer did not have yet.
      if (!rung) await pause(options.clock, options.everyMs, nap.signal);
    }
    return null;
  }
  return { wake, ended: loop().finally(() => unsubscribe?.()) };
}
