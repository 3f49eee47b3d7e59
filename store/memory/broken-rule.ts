/** The rules a database states as constraints (S5, S6), for the store that has none. Answers the first broken one. */
import type { AttemptRow, LeaseRow, NodeRow } from '../../machines/index.ts';
import { isAttemptTerminal, isGateEnded, isJobEnded, isLeaseLive, isRunTerminal } from '../../machines/index.ts';
import type { RunCommit } from '../contract.ts';
import { sameValue } from './same-value.ts';
import type { MemoryRun } from './state.ts';

export function brokenRule(commit: RunCommit, existing: MemoryRun | undefined): string | null {
  return (
    numbering(commit) ??
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
  return nodes.every(({ index }) => index >= 0 && index < nodes.length) ? null : 'a node has no place in the plan';
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
  for (const row of commit.attempts) {
    const others = rowsOfJob(row, existing?.attemptsByJob, existing?.attempts, commit.attempts);
    if (others.some(({ number }) => number === row.number)) return `attempt ${row.number} of job ${row.jobId} exists`;
  }
  for (const row of commit.leases) {
    const others = rowsOfJob<LeaseRow>(row, existing?.leasesByJob, existing?.leases, commit.leases);
    if (others.some(({ epoch }) => epoch === row.epoch)) return `epoch ${row.epoch} of job ${row.jobId} exists`;
    if (isLeaseLive(row.state) && others.some(({ state }) => isLeaseLive(state)))
      return `job ${row.jobId} has a live lease`;
  }
  return null;
}

interface OfJob {
  readonly id: string;
  readonly jobId: AttemptRow['jobId'];
}

/** The other rows of the job as they will stand after the commit. */
function rowsOfJob<Row extends OfJob>(
  row: Row,
  ids: ReadonlyMap<Row['jobId'], readonly Row['id'][]> | undefined,
  stored: ReadonlyMap<Row['id'], Row> | undefined,
  written: readonly Row[],
): readonly Row[] {
  const after = new Map<string, Row>();
  for (const id of ids?.get(row.jobId) ?? []) {
    const old = stored?.get(id);
    if (old !== undefined) after.set(id, old);
  }
  for (const each of written) if (each.jobId === row.jobId) after.set(each.id, each);
  after.delete(row.id);
  return [...after.values()];
}
