/** The rules a database states as constraints (S5, S6), for the store that has none. Answers the first broken one. */
import type { AttemptRow, LeaseRow, NodeRow } from '../../machines/index.ts';
import { isAttemptTerminal, isGateEnded, isJobEnded, isLeaseLive, isRunTerminal } from '../../machines/model/index.ts';
import type { RunCommit } from '../contract.ts';
import { contradiction } from './row-rules.ts';
import { sameValue } from './same-value.ts';
import type { MemoryRun } from './state.ts';
import { inner } from './state.ts';

export function brokenRule(commit: RunCommit, existing: MemoryRun | undefined): string | null {
  return (
    numbering(commit) ??
    contradiction(commit) ??
    (existing === undefined ? creation(commit) : immutability(commit, existing)) ??
    uniqueness(commit, existing)
  );
}

function numbering({ run, runId, facts, expectedSequence }: RunCommit): string | null {
  if (run.id !== runId) return `the row belongs to run ${run.id}`;
  if (run.sequence !== expectedSequence + facts.length) return 'the sequence is not that of the last fact';
  const wrong = facts.find((each, place) => each.runId !== runId || each.sequence !== expectedSequence + place + 1);
  return wrong === undefined ? null : `fact ${wrong.sequence} is out of order`;
}

function creation({ create, jobs, gates }: RunCommit): string | null {
  const nodes: readonly NodeRow[] = [...jobs, ...gates];
  const indexes = new Set(nodes.map(({ index }) => index));
  if (nodes.length !== create?.plan.nodes.length || indexes.size !== nodes.length) return 'the plan has other nodes';
  const misplaced = nodes.find(({ kind, index }) => create?.plan.nodes[index]?.kind !== kind);
  if (misplaced !== undefined) return `${misplaced.kind} ${misplaced.id} has no place in the plan`;
  return null;
}

function immutability(commit: RunCommit, { run, nodes, attempts, leases }: MemoryRun): string | null {
  if (isRunTerminal(run.state) && !sameValue({ ...commit.run, sequence: run.sequence }, run))
    return 'the run has ended';
  for (const row of [...commit.jobs, ...commit.gates]) {
    const old = nodes[row.index];
    if (old?.id !== row.id) return `${row.kind} ${row.id} is no node of the run`;
    const ended = old.kind === 'job' ? isJobEnded(old.state) : isGateEnded(old.state);
    if (ended && !sameValue(row, old)) return `${row.kind} ${row.id} has ended`;
  }
  for (const row of commit.attempts) {
    const old = attempts.get(row.id);
    if (old !== undefined && isAttemptTerminal(old.state) && !isLateResultOnly(row, old))
      return `attempt ${row.id} has ended`;
  }
  for (const row of commit.leases) {
    const old = leases.get(row.id);
    if (old !== undefined && !isLeaseLive(old.state) && !sameValue(row, old)) return `lease ${row.id} has ended`;
  }
  return null;
}

function isLateResultOnly(row: AttemptRow, old: AttemptRow): boolean {
  return (
    row.lateResult >= old.lateResult && sameValue({ ...row, lateResult: old.lateResult, version: old.version }, old)
  );
}

function uniqueness(commit: RunCommit, existing: MemoryRun | undefined): string | null {
  for (const rows of rowsByJob(commit.attempts, existing?.attemptsByJob, existing?.attempts)) {
    const repeated = repeatedBy(rows, ({ number }) => number);
    if (repeated !== undefined) return `attempt ${repeated.number} of job ${repeated.jobId} exists`;
  }
  for (const rows of rowsByJob<LeaseRow>(commit.leases, existing?.leasesByJob, existing?.leases)) {
    const repeated = repeatedBy(rows, ({ epoch }) => epoch);
    if (repeated !== undefined) return `epoch ${repeated.epoch} of job ${repeated.jobId} exists`;
    const live = rows.filter(({ state }) => isLeaseLive(state));
    if (live.length > 1) return `job ${live[0]?.jobId} has a live lease`;
  }
  return null;
}

function repeatedBy<Row>(rows: readonly Row[], keyOf: (row: Row) => number): Row | undefined {
  const seen = new Set<number>();
  return rows.find((row) => seen.size === seen.add(keyOf(row)).size);
}

interface OfJob {
  readonly id: string;
  readonly jobId: AttemptRow['jobId'];
}

/** All rows of each job that the commit touches, as they will stand after it. */
function rowsByJob<Row extends OfJob>(
  written: readonly Row[],
  ids: ReadonlyMap<Row['jobId'], readonly Row['id'][]> | undefined,
  stored: ReadonlyMap<Row['id'], Row> | undefined,
): readonly (readonly Row[])[] {
  const jobs = new Map<string, Map<string, Row>>();
  for (const row of written) {
    const rows = inner(jobs, row.jobId, () => storedRows(ids?.get(row.jobId) ?? [], stored));
    rows.set(row.id, row);
  }
  return [...jobs.values()].map((rows) => [...rows.values()]);
}

function storedRows<Row extends OfJob>(
  ids: readonly Row['id'][],
  stored: ReadonlyMap<Row['id'], Row> | undefined,
): Map<string, Row> {
  const rows = new Map<string, Row>();
  for (const id of ids) {
    const row = stored?.get(id);
    if (row !== undefined) rows.set(id, row);
  }
  return rows;
}
