/** Turns a draft into the changes of a commit: rows, facts, the difference in deadlines, checked invariants. */

import { brokenInvariants } from '../invariants.ts';
import type { Changes, CommitGuard, Deadline, TimerChanges } from '../model/decision.ts';
import type { AttemptRow, GateRow, JobRow, LeaseRow, NodeRow } from '../model/rows.ts';
import type { Draft, RunView } from '../state/run-state.ts';
import { attemptDeadlines, gateDeadlines, jobDeadlines, leaseDeadlines, runDeadlines } from './deadlines.ts';

export function finish(draft: Draft, guards: readonly CommitGuard[], judge: readonly number[]): Changes {
  const run = { ...draft.run, sequence: draft.sequence };
  draft.putRun(run);
  const nodes = [...draft.changedNodes.values()];
  const jobs = nodes.filter((row): row is JobRow => row.kind === 'job');
  assertInvariants(draft, jobs);
  return {
    run,
    jobs,
    gates: nodes.filter((row): row is GateRow => row.kind === 'gate'),
    attempts: [...draft.changedAttempts.values()],
    leases: [...draft.changedLeases.values()],
    facts: draft.facts,
    timers: timerChanges(draft, draft.base),
    guards,
    judge,
    lost: jobs.filter((row) => row.state === 'Lost').map((row) => row.id),
  };
}

/** Invariants are asserted in production: what breaks one is never committed. */
function assertInvariants(draft: Draft, jobs: readonly JobRow[]): void {
  for (const job of jobs) {
    const broken = brokenInvariants(draft, job);
    if (broken.length > 0)
      throw new Error(`invariant ${broken.join(', ')} broken by ${draft.facts.at(-1)?.type} on ${job.node}`);
  }
}

/** Deadlines of the changed rows, before and after. */
export function timerChanges(draft: Draft, base: RunView): TimerChanges {
  const before = new Map<string, Deadline>();
  const after = new Map<string, Deadline>();
  const add = (map: Map<string, Deadline>, deadlines: readonly Deadline[]): void => {
    for (const one of deadlines) map.set(one.key, one);
  };
  if (base.sequence > 0) add(before, runDeadlines(base.run));
  add(after, runDeadlines(draft.run));
  for (const [at, row] of draft.changedNodes) {
    add(before, nodeDeadlines(base.node(at)));
    add(after, nodeDeadlines(row));
  }
  for (const [id, row] of draft.changedAttempts) {
    const old: AttemptRow | undefined = base.attempt(id);
    if (old !== undefined) add(before, attemptDeadlines(old));
    add(after, attemptDeadlines(row));
  }
  for (const [id, row] of draft.changedLeases) {
    const old: LeaseRow | undefined = base.lease(id);
    if (old !== undefined) add(before, leaseDeadlines(old));
    add(after, leaseDeadlines(row));
  }
  return {
    set: [...after.values()].filter((one) => !sameDeadline(before.get(one.key), one)),
    cancel: [...before.keys()].filter((key) => !after.has(key)),
  };
}

const nodeDeadlines = (row: NodeRow): readonly Deadline[] =>
  row.kind === 'job' ? jobDeadlines(row) : gateDeadlines(row);

const sameDeadline = (old: Deadline | undefined, one: Deadline): boolean =>
  old !== undefined && old.dueAt === one.dueAt && old.kind === one.kind;
