/** A batch of commits as the parameters of one statement: the rows themselves as JSON, null where there are none. */
import type { CommitGuard, JobRow } from '../../machines/index.ts';
import { isLeaseLive } from '../../machines/model/index.ts';
import type { RunCommit, StoredFact } from '../contract.ts';
import type { SqlValue } from './database.ts';
import { jsonText } from './json-text.ts';

/** What `forgeyard.write_rows_v1` takes after the counts, in its order. */
export interface RowLists {
  readonly newJobs: readonly object[];
  readonly newGates: readonly object[];
  readonly dependencies: readonly object[];
  readonly jobs: readonly object[];
  readonly gates: readonly object[];
  readonly attempts: readonly object[];
  readonly leases: readonly object[];
  readonly facts: readonly object[];
  readonly timersSet: readonly object[];
  readonly timersEnded: readonly object[];
  readonly receipts: readonly object[];
  readonly audit: readonly object[];
}

const orNull = (rows: readonly unknown[]): string | null => (rows.length === 0 ? null : jsonText(rows));

export function listParameters(lists: RowLists): readonly SqlValue[] {
  const { newJobs, newGates, dependencies, jobs, gates, attempts, leases } = lists;
  const { facts, timersSet, timersEnded, receipts, audit } = lists;
  return [
    newJobs,
    newGates,
    dependencies,
    jobs,
    gates,
    attempts,
    leases,
    facts,
    timersSet,
    timersEnded,
    receipts,
    audit,
  ].map(orNull);
}

/** Rows that must be there to be changed: how many, so that one that is not is noticed. */
export interface Wanted {
  readonly jobs: number;
  readonly gates: number;
  readonly attempts: number;
  readonly leases: number;
}

export const wantedOf = ({ jobs, gates, attempts, leases }: RowLists): Wanted => ({
  jobs: jobs.length,
  gates: gates.length,
  attempts: attempts.length,
  leases: leases.length,
});

/** One commit as it is judged. Its rows are sent only if they do not contradict each other. */
export interface Judged {
  readonly commit: RunCommit;
  readonly broken: boolean;
  readonly wanted: Wanted;
}

/** Everything `forgeyard.commit_v1` takes before the lists; sorted by run. */
export function headParameters(judged: readonly Judged[], fixedNow: number | null): readonly SqlValue[] {
  const sound = judged.flatMap(({ commit, broken }) => (broken ? [] : [commit]));
  const created = sound.filter(({ create }) => create !== null);
  return [
    fixedNow,
    jsonText(judged.map(headOf)),
    orNull(sound.flatMap(lockedLeases)),
    orNull(created.map(({ runId, create }) => ({ runId, digest: create?.planDigest, plan: create?.plan }))),
    orNull(created.map(({ run }) => run)),
    orNull(sound.flatMap(({ create, run }) => (create === null ? [run] : []))),
  ];
}

function headOf({ commit, broken, wanted }: Judged): object {
  const { runId, run, expectedSequence, create, receipts, guards } = commit;
  const isNew = create !== null;
  return {
    runId,
    expected: expectedSequence,
    last: run.sequence,
    creates: isNew,
    priority: run.priority,
    ...(broken ? { broken } : {}),
    ...(isNew ? { project: run.project, requestId: run.requestId } : {}),
    ...(receipts.length > 0 ? { messages: receipts.map(({ messageId }) => messageId) } : {}),
    ...guardColumns(guards),
    ...wanted,
  };
}

function guardColumns(guards: readonly CommitGuard[]): object {
  if (guards.length === 0) return {};
  const expired = guards.filter(({ kind }) => kind === 'lease-expired');
  const columns: Record<string, readonly (string | number)[]> = {
    live: unique(guards.flatMap((guard) => (guard.kind === 'lease-live' ? [guard.lease] : []))),
    sessions: unique(guards.flatMap((guard) => (guard.kind === 'session-active' ? [guard.session] : []))),
    expired: unique(expired.flatMap((guard) => ('lease' in guard ? [guard.lease] : []))),
    credits: unique(expired.flatMap((guard) => ('creditSequence' in guard ? [guard.creditSequence] : []))),
  };
  return Object.fromEntries(Object.entries(columns).filter(([, values]) => values.length > 0));
}

const unique = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];

/**
 * Leases whose newest row must be known before anything is judged: one that is to expire (a renewal may be on its way),
 * one that is written Held over Held (so may the close of its session).
 */
function lockedLeases({ runId, guards, leases }: RunCommit): readonly object[] {
  const expiring = guards.flatMap((guard) => (guard.kind === 'lease-expired' ? [guard.lease] : []));
  const held = leases.flatMap(({ state, id }) => (state === 'Held' ? [id] : []));
  return [...new Set([...expiring, ...held])].sort().map((id) => ({ runId, id }));
}

export function listsOf(commits: readonly RunCommit[]): RowLists {
  const moved = commits.filter(({ create }) => create === null);
  const created = commits.filter(({ create }) => create !== null);
  return {
    newJobs: created.flatMap(newJobRows),
    newGates: created.flatMap(({ gates }) => gates),
    dependencies: created.flatMap(dependencyRows),
    jobs: moved.flatMap(({ jobs }) => jobs),
    gates: moved.flatMap(({ gates }) => gates),
    attempts: commits.flatMap(({ attempts }) => attempts),
    leases: commits.flatMap(({ leases }) => [
      ...leases.filter(({ state }) => !isLeaseLive(state)),
      ...leases.filter(({ state }) => isLeaseLive(state)),
    ]),
    facts: commits.flatMap(({ facts }) => facts.map(factRow)),
    timersSet: commits.flatMap(({ runId, timers }) =>
      [...new Map(timers.set.map((timer) => [timer.key, timer])).values()].map((timer) => ({ runId, ...timer })),
    ),
    timersEnded: commits.flatMap(endedTimers),
    receipts: commits.flatMap(({ runId, receipts }) => receipts.map((receipt) => ({ runId, ...receipt }))),
    audit: commits.flatMap(({ runId, audit }) => audit.map((entry) => ({ owner: runId, ...entry }))),
  };
}

/** Beside the fact the columns it is found by: taking them out of it in the statement would read it thrice. */
function factRow(stored: StoredFact): object {
  const { type, entity } = stored.fact;
  return { ...stored, type, entity, entityId: stored.fact.entity === 'run' ? stored.runId : stored.fact.id };
}

function newJobRows({ jobs, create, run }: RunCommit): readonly object[] {
  return jobs.map((job: JobRow) => {
    const planned = create?.plan.nodes[job.index];
    return {
      ...job,
      capabilityKey: [...job.capabilities].sort(),
      cacheKey: planned?.kind === 'job' ? planned.cacheKey : null,
      priority: run.priority,
    };
  });
}

function dependencyRows({ runId, create }: RunCommit): readonly object[] {
  if (create === null) return [];
  return create.plan.nodes.flatMap(({ index, needs }) =>
    needs.map(({ upstream, condition, required }, place) => ({
      runId,
      node: index,
      place,
      upstream,
      condition,
      required,
    })),
  );
}

/** Fired, then cancelled, then set: of one key only the last counts, so a row is changed once. */
function endedTimers({ runId, timers: { fired, cancel, set } }: RunCommit): readonly object[] {
  if (fired.length === 0 && cancel.length === 0) return [];
  const setAnew = new Set(set.map(({ key }) => key));
  const ended = new Map<string, { readonly token: string | null; readonly cancel: boolean }>();
  for (const { key, token } of fired) ended.set(key, { token, cancel: false });
  for (const key of cancel) ended.set(key, { token: ended.get(key)?.token ?? null, cancel: true });
  return [...ended].flatMap(([key, change]) => (setAnew.has(key) ? [] : [{ runId, key, ...change }]));
}
