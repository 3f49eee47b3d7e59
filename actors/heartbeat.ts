/** Keeps the control plane's heartbeat row, and notices when it had stopped (state-machines: Outage credit). */
import type { Ports } from './ports.ts';

export interface Heartbeat {
  /** Beats once; a gap found here becomes a credit, for whoever beats first. */
  beat(): Promise<void>;
  /** Beats unless a beat younger than a third of the gap already proves that no outage is uncredited. */
  ensureFresh(): Promise<void>;
  /** The newest credit known to this process. */
  readonly creditSequence: number;
}

export function createHeartbeat(ports: Pick<Ports, 'store' | 'limits'>): Heartbeat {
  const { heartbeatGapMs } = ports.limits;
  let creditSequence = 0;
  let lastBeatAt = Number.NEGATIVE_INFINITY;
  const beat = async (): Promise<void> => {
    const beaten = await ports.store.heartbeat({ gapMs: heartbeatGapMs });
    creditSequence = Math.max(creditSequence, beaten.creditSequence);
    // The store's own time of the beat: this process may have been stopped between the beat and its answer.
    lastBeatAt = beaten.lastBeatAt;
  };
  return {
    beat,
    async ensureFresh() {
      if (ports.store.now() - lastBeatAt >= heartbeatGapMs / 3) await beat();
    },
    get creditSequence() {
      return creditSequence;
    },
  };
}
