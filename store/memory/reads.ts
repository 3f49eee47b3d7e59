/** Everything that only looks: loading a run, lists, history, searches. */
import type {
  AttemptId,
  AttemptRow,
  GateRow,
  JobRow,
  JobState,
  LeaseRow,
  NodeRow,
  RunRow,
} from '../../machines/index.ts';
import { isJobActive, isLeaseLive } from '../../machines/model/index.ts';
import type { EligibleJob, RunCounts, RunFilter, Store } from '../contract.ts';
import { queueOfRun } from './apply-commit.ts';
import type { MemoryRun, MemoryState } from './state.ts';
import { requestKey } from './state.ts';

type ReadMethods = Pick<
  Store,
  | 'load'
  | 'sequence'
  | 'receipts'
  | 'findRunByRequest'
  | 'attempts'
  | 'leases'
  | 'eligible'
  | 'facts'
  | 'feed'
  | 'runs'
  | 'counts'
  | 'findJobs'
  | 'findGates'
>;

export function readMethods(state: MemoryState): ReadMethods {
  return {
    async load(runId) {
      const found = state.runs.get(runId);
      if (found === undefined) return null;
      const { run, plan, nodes, attempts, leases, liveLeases } = found;
      return {
        run,
        plan,
        nodes: [...nodes],
        attempts: picked(attempts, nodes.flatMap(currentAttempt)),
        leases: picked(leases, liveLeases).sort(byJob),
      };
    },
    async sequence(runId) {
      return state.runs.get(runId)?.run.sequence ?? null;
    },
    async receipts(runId, messages) {
      return picked(state.runs.get(runId)?.receipts ?? new Map(), messages);
    },
    async findRunByRequest(project, requestId) {
      const id = state.requests.get(requestKey(project, requestId));
      return id === undefined ? null : (state.runs.get(id)?.run ?? null);
    },
    async attempts(runId, { job, ids }) {
      const run = state.runs.get(runId);
      if (run === undefined) return [];
      const candidates = job === undefined ? [...run.attempts.keys()] : (run.attemptsByJob.get(job) ?? []);
      const named = ids === undefined ? null : new Set(ids);
      const wanted = candidates.filter((id) => named === null || named.has(id));
      return picked(run.attempts, wanted).sort((a: AttemptRow, b) => a.jobIndex - b.jobIndex || a.number - b.number);
    },
    async leases(runId, { job, live }) {
      const run = state.runs.get(runId);
      if (run === undefined) return [];
      const ids = job === undefined ? run.leases.keys() : (run.leasesByJob.get(job) ?? []);
      const liveOnly = live ?? (job === undefined ? true : undefined);
      return picked(run.leases, ids)
        .filter((lease) => liveOnly === undefined || isLeaseLive(lease.state) === liveOnly)
        .sort(byJob);
    },
    async eligible({ capabilities, limit, runId }) {
      const run = runId === undefined ? undefined : state.runs.get(runId);
      if (runId !== undefined && run === undefined) return [];
      const queue = run === undefined ? state.queue : queueOfRun(run);
      return queue.first({ capabilities, limit }).flatMap((entry) => eligibleJob(state, entry.runId, entry.index));
    },
    async facts(runId, { after, limit }) {
      return state.runs.get(runId)?.facts.slice(after, after + limit) ?? [];
    },
    async feed({ after, limit }) {
      const items = state.feed.slice(after, after + limit);
      return { items, next: items.length === 0 ? null : after + items.length };
    },
    async runs(filter, { limit, cursor }) {
      const matching = [...state.runs.values()].map(({ run }) => run).filter((run) => matches(run, filter));
      const rest = matching.filter((run) => cursor === null || cursorOf(run) < cursor).sort(newestFirst);
      const items = rest.slice(0, limit);
      const last = items.at(-1);
      return { items, next: last === undefined || rest.length <= items.length ? null : cursorOf(last) };
    },
    async counts(runIds) {
      return new Map(
        runIds.flatMap((id) => {
          const run = state.runs.get(id);
          return run === undefined ? [] : [[id, countsOf(run)] as const];
        }),
      );
    },
    async findJobs({ idPrefix, limit }) {
      return newestWith(state.jobOwner, idPrefix, limit, (run, id) => jobAt(run, run.jobIndex.get(id)));
    },
    async findGates({ idPrefix, limit }) {
      return newestWith(state.gateOwner, idPrefix, limit, (run, id) => gateAt(run, run.gateIndex.get(id)));
    },
  };
}

function currentAttempt(node: NodeRow): readonly AttemptId[] {
  return node.kind === 'job' && isJobActive(node.state) && node.currentAttempt !== null ? [node.currentAttempt] : [];
}

const byJob = (a: LeaseRow, b: LeaseRow): number => a.jobIndex - b.jobIndex || a.epoch - b.epoch;

function picked<K, V>(map: ReadonlyMap<K, V>, keys: Iterable<K>): V[] {
  const found: V[] = [];
  for (const key of keys) {
    const value = map.get(key);
    if (value !== undefined) found.push(value);
  }
  return found;
}

function jobAt(run: MemoryRun, index: number | undefined): JobRow | undefined {
  const node = index === undefined ? undefined : run.nodes[index];
  return node?.kind === 'job' ? node : undefined;
}

function gateAt(run: MemoryRun, index: number | undefined): GateRow | undefined {
  const node = index === undefined ? undefined : run.nodes[index];
  return node?.kind === 'gate' ? node : undefined;
}

function newestWith<Id extends string, Row>(
  owners: ReadonlyMap<Id, MemoryRun>,
  idPrefix: string,
  limit: number,
  rowOf: (run: MemoryRun, id: Id) => Row | undefined,
): readonly Row[] {
  const ids = [...owners.keys()]
    .filter((id) => id.startsWith(idPrefix))
    .sort()
    .reverse();
  return ids.slice(0, limit).flatMap((id) => {
    const run = owners.get(id);
    const row = run === undefined ? undefined : rowOf(run, id);
    return row === undefined ? [] : [row];
  });
}

function eligibleJob(state: MemoryState, runId: RunRow['id'], index: number): readonly EligibleJob[] {
  const run = state.runs.get(runId);
  const job = run?.nodes[index];
  const planned = run?.plan.nodes[index];
  if (run === undefined || job?.kind !== 'job') return [];
  return [
    {
      runId,
      jobId: job.id,
      node: job.node,
      priority: run.run.priority,
      eligibleAt: job.eligibleAt ?? run.run.createdAt,
      capabilities: job.capabilities,
      refusedBy: job.refusedBy,
      cacheKey: planned?.kind === 'job' ? planned.cacheKey : null,
    },
  ];
}

function countsOf(run: MemoryRun): RunCounts {
  const byState: Partial<Record<JobState, number>> = {};
  for (const [state, indexes] of run.jobsByState) if (indexes.size > 0) byState[state] = indexes.size;
  return { jobs: run.jobIndex.size, byState };
}

function matches(run: RunRow, { project, states, concurrencyGroup, idPrefix }: RunFilter): boolean {
  return (
    (project === undefined || run.project === project) &&
    (states === undefined || states.includes(run.state)) &&
    (concurrencyGroup === undefined || run.concurrencyGroup === concurrencyGroup) &&
    (idPrefix === undefined || run.id.startsWith(idPrefix))
  );
}

/** Creation time in fixed width, then id: compares like the order of the list. */
function cursorOf(run: RunRow): string {
  return `${String(run.createdAt).padStart(16, '0')}:${run.id}`;
}

function newestFirst(a: RunRow, b: RunRow): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}
