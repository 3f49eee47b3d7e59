/** Outbox rows: one per commit that has facts. Only the oldest undelivered one of a run is ever in the heap. */
import type { Timestamp } from '../../machines/index.ts';
import type { OutboxBatch, RunCommit, Store } from '../contract.ts';
import type { MemoryBatch, MemoryRun, MemoryState } from './state.ts';

export function enqueueBatch(state: MemoryState, run: MemoryRun, commit: RunCommit, now: Timestamp): void {
  if (commit.facts.length === 0) return;
  const batch: MemoryBatch = {
    run,
    first: commit.expectedSequence + 1,
    last: commit.run.sequence,
    token: null,
    readyAt: now,
    attempts: 0,
  };
  run.outbox.push(batch);
  if (run.outbox[run.outboxHead] === batch) state.dueBatches.push(now, batch);
}

function replaceHead(state: MemoryState, batch: MemoryBatch): void {
  batch.run.outbox[batch.run.outboxHead] = batch;
  state.dueBatches.push(batch.readyAt, batch);
}

function dropHead(state: MemoryState, run: MemoryRun): void {
  run.outboxHead += 1;
  // Delivered batches are swept once they are the larger half, so that settling stays cheap and memory is not kept.
  if (run.outboxHead * 2 > run.outbox.length) {
    run.outbox.splice(0, run.outboxHead);
    run.outboxHead = 0;
  }
  const next = run.outbox[run.outboxHead];
  if (next !== undefined) state.dueBatches.push(next.readyAt, next);
}

export function outboxMethods(state: MemoryState): Pick<Store, 'claimOutbox' | 'settleOutbox'> {
  return {
    async claimOutbox({ limit, claimMs, token }) {
      const now = state.clock.now();
      const claimed: MemoryBatch[] = [];
      while (claimed.length < limit) {
        const top = state.dueBatches.peek();
        if (top === undefined || top.at > now) break;
        state.dueBatches.pop();
        claimed.push({ ...top.item, token, readyAt: now + claimMs, attempts: top.item.attempts + 1 });
      }
      for (const batch of claimed) replaceHead(state, batch);
      return claimed.map(
        ({ run, first, last, attempts }): OutboxBatch => ({
          runId: run.run.id,
          first,
          last,
          token,
          attempts,
          facts: run.facts.slice(first - 1, last),
        }),
      );
    },
    async settleOutbox(settlements) {
      for (const { runId, first, token, retryAt } of settlements) {
        const run = state.runs.get(runId);
        const head = run?.outbox[run.outboxHead];
        if (run === undefined || head === undefined || head.first !== first || head.token !== token) continue;
        if (retryAt === null) dropHead(state, run);
        else replaceHead(state, { ...head, token: null, readyAt: retryAt });
      }
    },
  };
}
