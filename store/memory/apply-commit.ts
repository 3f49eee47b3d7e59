/** Writes a judged commit. Nothing here may fail: a commit is whole or not at all (S1). */
import type { AttemptRow, JobRow, LeaseRow, NodeRow, Timestamp } from '../../machines/index.ts';
import { isLeaseLive, isRunTerminal } from '../../machines/model/index.ts';
import type { RunCommit } from '../contract.ts';
import type { QueueEntry } from './eligible-queue.ts';
import { createEligibleQueue } from './eligible-queue.ts';
import { enqueueBatch } from './outbox.ts';
import type { MemoryRun, MemoryState } from './state.ts';
import { appendAudit, inner, requestKey } from './state.ts';
import { applyTimers } from './timers.ts';

export function applyCommit(state: MemoryState, commit: RunCommit, now: Timestamp): void {
  const run = state.runs.get(commit.runId) ?? createRun(state, commit);
  const priorityChanged = run.run.priority !== commit.run.priority;
  run.run = commit.run;
  if (isRunTerminal(run.run.state)) state.activeRuns.delete(run.run.id);
  else state.activeRuns.add(run.run.id);
  for (const gate of commit.gates) run.nodes[gate.index] = gate;
  for (const attempt of commit.attempts) applyAttempt(run, attempt);
  for (const lease of commit.leases) applyLease(state, run, lease);
  applyJobs(state, run, commit.jobs);
  if (priorityChanged) requeueAll(state, run);
  for (const fact of commit.facts) {
    run.facts.push(fact);
    state.feed.push(fact);
  }
  enqueueBatch(state, run, commit, now);
  applyTimers(state, run, commit.timers);
  for (const receipt of commit.receipts) run.receipts.set(receipt.messageId, receipt);
  for (const entry of commit.audit) appendAudit(state, entry);
}

function createRun(state: MemoryState, commit: RunCommit): MemoryRun {
  if (commit.create === null) throw new Error(`run ${commit.runId} was judged as created, but has no plan`);
  const nodes: NodeRow[] = [...commit.jobs, ...commit.gates].sort((a, b) => a.index - b.index);
  const run: MemoryRun = {
    run: commit.run,
    plan: commit.create.plan,
    nodes,
    jobIndex: new Map(),
    gateIndex: new Map(),
    jobsByState: new Map(),
    attempts: new Map(),
    attemptsByJob: new Map(),
    leases: new Map(),
    leasesByJob: new Map(),
    liveLeases: new Set(),
    facts: [],
    outbox: [],
    outboxHead: 0,
    timers: new Map(),
    receipts: new Map(),
    queue: null,
  };
  for (const node of nodes) {
    if (node.kind === 'gate') {
      run.gateIndex.set(node.id, node.index);
      state.gateOwner.set(node.id, run);
      continue;
    }
    run.jobIndex.set(node.id, node.index);
    state.jobOwner.set(node.id, run);
  }
  state.runs.set(commit.runId, run);
  state.requests.set(requestKey(commit.run.project, commit.run.requestId), commit.runId);
  return run;
}

function applyJobs(state: MemoryState, run: MemoryRun, jobs: readonly JobRow[]): void {
  const entering: JobRow[] = [];
  for (const job of jobs) {
    const old = run.nodes[job.index];
    if (old?.kind === 'job') run.jobsByState.get(old.state)?.delete(job.index);
    if (old?.kind === 'job' && old.state === 'Eligible') leaveQueues(state, run, old);
    run.nodes[job.index] = job;
    inner(run.jobsByState, job.state, () => new Set()).add(job.index);
    if (job.state === 'Eligible') entering.push(job);
  }
  enterQueues(state, run, entering);
}

function leaveQueues(state: MemoryState, run: MemoryRun, job: JobRow): void {
  state.queue.remove(job.id);
  run.queue?.remove(job.id);
}

function enterQueues(state: MemoryState, run: MemoryRun, jobs: readonly JobRow[]): void {
  const entries = jobs.map((job) => queueEntry(run, job));
  state.queue.add(entries);
  run.queue?.add(entries);
}

function queueEntry(run: MemoryRun, job: JobRow): QueueEntry {
  return {
    runId: job.runId,
    jobId: job.id,
    index: job.index,
    priority: run.run.priority,
    eligibleAt: job.eligibleAt ?? run.run.createdAt,
    capabilities: job.capabilities,
  };
}

function eligibleJobs(run: MemoryRun): readonly JobRow[] {
  return [...(run.jobsByState.get('Eligible') ?? [])].flatMap((index) => {
    const node = run.nodes[index];
    return node?.kind === 'job' ? [node] : [];
  });
}

function requeueAll(state: MemoryState, run: MemoryRun): void {
  const jobs = eligibleJobs(run);
  for (const job of jobs) leaveQueues(state, run, job);
  enterQueues(state, run, jobs);
}

/** The queue of one run, made on first use and kept from then on. */
export function queueOfRun(run: MemoryRun) {
  if (run.queue === null) {
    run.queue = createEligibleQueue();
    run.queue.add(eligibleJobs(run).map((job) => queueEntry(run, job)));
  }
  return run.queue;
}

function applyAttempt(run: MemoryRun, attempt: AttemptRow): void {
  if (!run.attempts.has(attempt.id)) inner(run.attemptsByJob, attempt.jobId, () => []).push(attempt.id);
  run.attempts.set(attempt.id, attempt);
}

function applyLease(state: MemoryState, run: MemoryRun, written: LeaseRow): void {
  const old = run.leases.get(written.id);
  const lease = old === undefined ? written : keepPromise(state, old, written);
  if (old === undefined) inner(run.leasesByJob, lease.jobId, () => []).push(lease.id);
  run.leases.set(lease.id, lease);
  const ofSession = inner(state.sessionLeases, lease.session, () => new Map());
  if (isLeaseLive(lease.state)) {
    run.liveLeases.add(lease.id);
    ofSession.set(lease.id, run);
  } else {
    run.liveLeases.delete(lease.id);
    ofSession.delete(lease.id);
  }
}

/** S7: what was promised to a runner since the commit was decided is not taken back, nor given after a session closed. */
function keepPromise(state: MemoryState, old: LeaseRow, written: LeaseRow): LeaseRow {
  if (old.state !== 'Held' || written.state !== 'Held') return written;
  if (state.sessions.get(old.session)?.state === 'Closed')
    return { ...written, expiresAt: Math.min(old.expiresAt, written.expiresAt) };
  const renewedSince = old.renewedAt > written.renewedAt;
  return {
    ...written,
    expiresAt: Math.max(old.expiresAt, written.expiresAt),
    renewedAt: Math.max(old.renewedAt, written.renewedAt),
    creditMs: renewedSince ? old.creditMs : written.creditMs,
  };
}
