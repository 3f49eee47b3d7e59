/** Turns a draft into the changes of a commit: rows, facts, the difference in deadlines, checked invariants. */

import { brokenInvariants } from '../invariants.ts';
import type { Changes, CommitGuard, Deadline, TimerChanges } from '../model/decision.ts';
import type { GateRow, JobRow } from '../model/rows.ts';
import type { Draft, RunView } from '../state/run-state.ts';
import { attemptDeadlines, leaseDeadlines, nodeDeadlines, runDeadlines } from './deadlines.ts';

export function finish(draft: Draft, guards: readonly CommitGuard[], judge: readonly number[]): Changes {
  const run = { ...draft.run, sequence: draft.sequence };
  draft.putRun(run);
  const jobs: JobRow[] = [];
  const gates: GateRow[] = [];
  const lost: JobRow['id'][] = [];
  for (const row of draft.changedNodes.values()) {
    if (row.kind === 'gate') gates.push(row);
    else {
      jobs.push(row);
      if (row.state === 'Lost') lost.push(row.id);
    }
  }
  assertInvariants(draft, jobs);
  const attempts = [...draft.changedAttempts.values()];
  const leases = [...draft.changedLeases.values()];
  const timers = timerChanges(draft, draft.base);
  return { run, jobs, gates, attempts, leases, facts: draft.facts, timers, guards, judge, lost };
}

/** Invariants are asserted in production: what breaks one is never committed. */
function assertInvariants(draft: Draft, jobs: readonly JobRow[]): void {
  for (const job of jobs) {
    const broken = brokenInvariants(draft, job);
    if (broken.length > 0)
      throw new Error(`invariant ${broken.join(', ')} broken by ${draft.facts.at(-1)?.type} on ${job.node}`);
  }
}

/** Deadlines of the changed rows, before and after. A key belongs to one row, so rows are compared one by one. */
function timerChanges(draft: Draft, base: RunView): TimerChanges {
  const set: Deadline[] = [];
  const cancel: string[] = [];
  const compare = (before: readonly Deadline[], after: readonly Deadline[]): void => {
    for (const one of after) if (!before.some((old) => isSame(old, one))) set.push(one);
    for (const old of before) if (!after.some((one) => one.key === old.key)) cancel.push(old.key);
  };
  compare(base.sequence > 0 ? runDeadlines(base.run) : none, runDeadlines(draft.run));
  for (const [at, row] of draft.changedNodes) compare(nodeDeadlines(base.node(at)), nodeDeadlines(row));
  for (const [id, row] of draft.changedAttempts) {
    const old = base.attempt(id);
    compare(old === undefined ? none : attemptDeadlines(old), attemptDeadlines(row));
  }
  for (const [id, row] of draft.changedLeases) {
    const old = base.lease(id);
    compare(old === undefined ? none : leaseDeadlines(old), leaseDeadlines(row));
  }
  return { set, cancel };
}

const none: readonly Deadline[] = [];

const isSame = (old: Deadline, one: Deadline): boolean =>
  old.key === one.key && old.dueAt === one.dueAt && old.kind === one.kind;
