/** Heartbeat and credits, reconciler scans, action cache, audit. */
import type { Digest, JobState } from '../../machines/index.ts';
import { isLeaseLive } from '../../machines/model/index.ts';
import type { ScanItem, ScanKind, Store } from '../contract.ts';
import type { MemoryRun, MemoryState } from './state.ts';
import { appendAudit, hasHeartbeatGap } from './state.ts';

type UpkeepMethods = Pick<
  Store,
  | 'auditLog'
  | 'appendAudit'
  | 'heartbeat'
  | 'credits'
  | 'scan'
  | 'reconcileProgress'
  | 'saveReconcileProgress'
  | 'cacheLookup'
  | 'cachePut'
  | 'cacheInvalidate'
  | 'referencedDigests'
>;

export function upkeepMethods(state: MemoryState): UpkeepMethods {
  return {
    async auditLog({ runId, limit }) {
      const entries = [...state.audit.values()].filter((entry) => runId === undefined || entry.runId === runId);
      return entries.slice(Math.max(0, entries.length - limit)).reverse();
    },
    async appendAudit(entry) {
      appendAudit(state, entry);
    },
    async heartbeat({ gapMs }) {
      return beat(state, gapMs);
    },
    async credits(after) {
      return state.credits.slice(after);
    },
    async scan({ kind, cursor, limit }) {
      const all = scanItems(state, kind).map((item) => ({ item, key: `${item.runId}/${item.entity}` }));
      const rest = all.filter(({ key }) => cursor === null || key > cursor).sort((a, b) => (a.key < b.key ? -1 : 1));
      const page = rest.slice(0, limit);
      const last = page.at(-1);
      return {
        items: page.map(({ item }) => item),
        next: last === undefined || rest.length <= page.length ? null : last.key,
      };
    },
    async reconcileProgress(id) {
      return state.progress.get(id) ?? null;
    },
    async saveReconcileProgress(progress) {
      state.progress.set(progress.id, progress);
    },
    async cacheLookup(key) {
      return state.cache.get(cacheKey(key)) ?? null;
    },
    async cachePut(entry) {
      state.cache.set(cacheKey(entry), entry);
    },
    async cacheInvalidate(key) {
      state.cache.delete(cacheKey(key));
    },
    async *referencedDigests() {
      yield* digestsOf(state);
    },
  };
}

const cacheKey = (entry: { readonly project: string; readonly key: string; readonly specDigest: Digest }): string =>
  JSON.stringify([entry.project, entry.key, entry.specDigest]);

function beat(state: MemoryState, gapMs: number): { readonly creditSequence: number; readonly lastBeatAt: number } {
  const now = state.clock.now();
  const previous = state.heartbeat;
  state.heartbeat = { lastBeatAt: previous?.lastBeatAt ?? now, gapMs };
  if (previous === null || hasHeartbeatGap(state, now)) {
    const gapStart = state.heartbeat.lastBeatAt;
    state.credits.push({ sequence: state.credits.length + 1, gapStart, gapMs: now - gapStart });
  }
  const lastBeatAt = Math.max(now, state.heartbeat.lastBeatAt);
  state.heartbeat = { lastBeatAt, gapMs };
  return { creditSequence: state.credits.length, lastBeatAt };
}

function scanItems(state: MemoryState, kind: ScanKind): readonly ScanItem[] {
  const now = state.clock.now();
  const active = [...state.activeRuns].flatMap((id) => state.runs.get(id) ?? []);
  switch (kind) {
    case 'active-runs':
      return active.map(({ run }) => ({ runId: run.id, entity: run.id }));
    case 'lost-jobs':
      return active.flatMap((run) => jobsIn(run, 'Lost', () => true));
    case 'due-retries':
      return active.flatMap((run) => jobsIn(run, 'RetryWaiting', (notBefore) => (notBefore ?? 0) <= now));
    case 'live-leases':
      return active.flatMap(({ run, leases, liveLeases }) =>
        [...liveLeases].flatMap((id) => {
          const lease = leases.get(id);
          return lease !== undefined && isLeaseLive(lease.state) ? [{ runId: run.id, entity: id }] : [];
        }),
      );
  }
}

function jobsIn(
  run: MemoryRun,
  state: JobState,
  accepts: (retryNotBefore: number | null) => boolean,
): readonly ScanItem[] {
  return [...(run.jobsByState.get(state) ?? [])].flatMap((index) => {
    const job = run.nodes[index];
    return job?.kind === 'job' && accepts(job.retryNotBefore) ? [{ runId: run.run.id, entity: job.id }] : [];
  });
}

function* digestsOf(state: MemoryState): Generator<Digest> {
  const seen = new Set<Digest>();
  const lists = function* () {
    for (const entry of state.cache.values()) yield entry.outputs;
    for (const run of state.runs.values()) {
      for (const node of run.nodes) if (node.kind === 'job') yield node.outputs;
      for (const attempt of run.attempts.values()) {
        yield attempt.outputs;
        yield attempt.reports;
      }
    }
  };
  for (const outputs of lists()) {
    for (const { digest } of outputs) {
      if (seen.has(digest)) continue;
      seen.add(digest);
      yield digest;
    }
  }
}
