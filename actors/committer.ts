/**
 * Folds commits of many runs into one store call: what becomes ready in the same turn, or while a call is under
 * way, travels together. Each run keeps its own compare-and-set and its own outcome.
 */
import type { CommitOutcome, RunCommit, Store } from '../store/index.ts';
import type { WakeClock } from './ports.ts';

export interface Committer {
  commit(commit: RunCommit): Promise<CommitOutcome>;
}

interface Waiting {
  readonly commit: RunCommit;
  readonly resolve: (outcome: CommitOutcome) => void;
  readonly reject: (error: unknown) => void;
}

export function createCommitter(
  store: Pick<Store, 'commit'>,
  wake: Pick<WakeClock, 'soon'>,
  foldMax: number,
): Committer {
  const queue: Waiting[] = [];
  let busy = false;

  const flush = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.splice(0, foldMax);
      try {
        const outcomes = await store.commit(batch.map((one) => one.commit));
        for (const [place, one] of batch.entries()) {
          const outcome = outcomes[place];
          if (outcome === undefined) one.reject(new Error('the store answered fewer commits than it was given'));
          else one.resolve(outcome);
        }
      } catch (error) {
        for (const one of batch) one.reject(error);
      }
    }
    busy = false;
  };

  return {
    commit(commit) {
      return new Promise((resolve, reject) => {
        queue.push({ commit, resolve, reject });
        if (busy) return;
        busy = true;
        wake.soon(() => void flush());
      });
    },
  };
}
