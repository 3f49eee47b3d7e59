/**
 * The outbox publisher (003 §49): claims batches, hands them to the consumers of this process, settles them with the
 * claim's token. At least once and only hints: everything a consumer does is found by reconcilers too.
 */
import type { StoredFact } from '../../store/index.ts';
import type { Ports } from '../ports.ts';

export interface Consumer {
  /** Stable name (003 §51). */
  readonly id: string;
  handle(facts: readonly StoredFact[]): Promise<void>;
}

const claimMax = 256;
const claimMs = 30_000;
/** ms before a failed batch is tried again: doubled with every failure, bounded. */
const retryBaseMs = 100;
const retryMaxMs = 60_000;

/** Publishes until nothing is pending; gives the number of batches settled as delivered. */
export async function publishPending(ports: Ports, consumers: readonly Consumer[]): Promise<number> {
  let delivered = 0;
  for (;;) {
    const token = ports.ids.uuid();
    const batches = await ports.store.claimOutbox({ limit: claimMax, claimMs, token });
    if (batches.length === 0) return delivered;
    ports.failpoint('publish:after-claim');
    const settlements = [];
    for (const batch of batches) {
      const failed = await deliver(ports, consumers, batch.facts);
      const delayMs = Math.min(retryMaxMs, retryBaseMs * 2 ** Math.min(batch.attempts, 16));
      if (!failed) delivered += 1;
      settlements.push({
        runId: batch.runId,
        first: batch.first,
        token,
        retryAt: failed ? ports.store.now() + Math.round(delayMs * (0.5 + ports.random() / 2)) : null,
      });
    }
    ports.failpoint('publish:before-settle');
    await ports.store.settleOutbox(settlements);
    ports.failpoint('publish:after-settle');
  }
}

/** Consumers are isolated: one that fails keeps the batch, the others have had it (003 §218). */
async function deliver(ports: Ports, consumers: readonly Consumer[], facts: readonly StoredFact[]): Promise<boolean> {
  let failed = false;
  for (const consumer of consumers) {
    try {
      await consumer.handle(facts);
    } catch (error) {
      failed = true;
      ports.report(`consumer ${consumer.id}`, error);
    }
  }
  return failed;
}
