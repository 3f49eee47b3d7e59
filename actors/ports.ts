/** What the runtime is given instead of reaching for it: identities, chance, waking, bounds, failpoints. */
import type { Limits } from '../machines/index.ts';
import { limits } from '../machines/index.ts';
import type { Store } from '../store/index.ts';
import type { OutputVerifier } from './api.ts';

export interface Ids {
  /** A fresh UUIDv7, lower case. */
  uuid(): string;
}

/** Real or simulated waking; it never decides anything. */
export interface WakeClock {
  /** Calls back once after `delayMs`; the returned function cancels. */
  setTimer(callback: () => void, delayMs: number): () => void;
  /** Calls back after the work that is already due in this turn. */
  soon(callback: () => void): void;
}

/** Named points of the runtime where tests stop, delay or kill; a no-op in production. */
export type RuntimeFailpoint =
  | 'command:before-reply'
  | 'timer:after-claim'
  | 'timer:after-command'
  | 'publish:after-claim'
  | 'publish:before-settle'
  | 'publish:after-settle'
  | 'reconcile:mid-batch'
  | 'reconcile:before-cursor';

export interface Ports {
  readonly store: Store;
  readonly ids: Ids;
  /** Seeded source in [0, 1): jitter only. */
  readonly random: () => number;
  readonly wake: WakeClock;
  readonly limits: Limits;
  readonly verifier: OutputVerifier;
  readonly failpoint: (point: RuntimeFailpoint) => void;
  /** Errors of loops that go on by themselves: reported, never swallowed. */
  readonly report: (where: string, error: unknown) => void;
}

/** Where nothing is checked because nothing is produced. */
const trustingVerifier: OutputVerifier = { verify: async () => ({ missing: [], corrupt: [] }) };

export function completePorts(given: Pick<Ports, 'store' | 'ids' | 'random' | 'wake'> & Partial<Ports>): Ports {
  return { limits, verifier: trustingVerifier, failpoint: () => {}, report: () => {}, ...given };
}
