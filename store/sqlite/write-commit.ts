/** One commit inside an open transaction: look, compare, then write. Everything it reads is held by the write lock. */
import type { MessageId, Timestamp } from '../../machines/index.ts';
import { isLeaseLive } from '../../machines/model/index.ts';
import type { CommitOutcome, RunCommit } from '../contract.ts';
import { writeAudit } from './audit.ts';
import type { Connection } from './connection.ts';
import type { SqliteContext } from './context.ts';
import { guardHolds } from './guards.ts';
import { enqueueBatch } from './outbox.ts';
import { sequenceOf } from './reads.ts';
import { attemptValues, upsertAttempt } from './rows/attempt-rows.ts';
import { factValues, insertFact } from './rows/fact-rows.ts';
import { insertGate, insertGateValues, updateGate, updateGateValues } from './rows/gate-rows.ts';
import { insertJob, insertJobValues, updateJob, updateJobValues } from './rows/job-rows.ts';
import { leaseValues, upsertLease } from './rows/lease-rows.ts';
import { integer, text } from './rows/read-columns.ts';
import { insertRun, insertRunValues, updateRun, updateRunValues } from './rows/run-rows.ts';
import { writeTimers } from './timers.ts';

/** The rows of a commit contradict what is stored, in a way that no constraint of the schema sees. */
export class BrokenRows extends Error {
  override readonly name = 'BrokenRows';
}

export function writeCommit(context: SqliteContext, commit: RunCommit, now: Timestamp): CommitOutcome {
  const { connection, hook } = context;
  const refusal = judge(connection, commit, now);
  if (refusal !== null) return refusal;
  assertNumbering(commit);
  if (commit.create === null) updateRows(connection, commit);
  else createRows(context, commit, now);
  hook('commit:between-statements');
  for (const attempt of commit.attempts)
    changesOne(connection.run(upsertAttempt, ...attemptValues(attempt)), attempt.id);
  // Ended leases first: the job's next lease may stand in the same commit, and only one may be live.
  for (const live of [false, true]) {
    for (const lease of commit.leases) {
      if (isLeaseLive(lease.state) === live) changesOne(connection.run(upsertLease, ...leaseValues(lease)), lease.id);
    }
  }
  for (const fact of commit.facts) connection.run(insertFact, ...factValues(fact));
  enqueueBatch(connection, commit, now);
  writeTimers(connection, commit.runId, commit.timers);
  writeReceipts(connection, commit);
  for (const entry of commit.audit) writeAudit(connection, entry);
  return { kind: 'committed' };
}

/** Null when the commit may be written. The same order of answers as in every other store. */
function judge(connection: Connection, commit: RunCommit, now: Timestamp): CommitOutcome | null {
  const messages = repeatedMessages(connection, commit);
  if (messages.length > 0) return { kind: 'duplicate', messages };
  const sequence = sequenceOf(connection, commit.runId);
  if (commit.create !== null && sequence === null) {
    const { project, requestId } = commit.run;
    const taken = connection.get('SELECT id FROM runs WHERE project = ? AND request_id = ?', project, requestId);
    if (taken !== undefined) return { kind: 'exists', runId: text(taken, 'id') };
  }
  if ((sequence ?? 0) !== commit.expectedSequence || (sequence === null) !== (commit.create !== null)) {
    return { kind: 'conflict', why: 'sequence' };
  }
  const holds = commit.guards.every((guard) => guardHolds(connection, commit.runId, guard, now));
  return holds ? null : { kind: 'conflict', why: 'guard' };
}

function repeatedMessages(connection: Connection, { runId, receipts }: RunCommit): readonly MessageId[] {
  const seen = new Set<MessageId>();
  return receipts.flatMap(({ messageId }) => {
    const repeated =
      seen.has(messageId) ||
      connection.get('SELECT 1 FROM receipts WHERE run_id = ? AND message_id = ?', runId, messageId) !== undefined;
    seen.add(messageId);
    return repeated ? [messageId] : [];
  });
}

function assertNumbering({ runId, run, facts, expectedSequence }: RunCommit): void {
  if (run.id !== runId) throw new BrokenRows(`the row belongs to run ${run.id}, not ${runId}`);
  if (run.sequence !== expectedSequence + facts.length)
    throw new BrokenRows('the sequence is not that of the last fact');
  facts.forEach((fact, place) => {
    if (fact.runId === runId && fact.sequence === expectedSequence + place + 1) return;
    throw new BrokenRows(`fact ${fact.sequence} is out of order`);
  });
}

function changesOne(changes: number, id: string): void {
  if (changes !== 1) throw new BrokenRows(`${id} does not belong to this run, or changed its place`);
}

function updateRows(connection: Connection, { run, jobs, gates, runId }: RunCommit): void {
  const before = connection.get('SELECT priority FROM runs WHERE id = ?', runId);
  connection.run(updateRun, ...updateRunValues(run));
  for (const job of jobs) changesOne(connection.run(updateJob, ...updateJobValues(job)), job.id);
  for (const gate of gates) changesOne(connection.run(updateGate, ...updateGateValues(gate)), gate.id);
  if (before === undefined || integer(before, 'priority') === run.priority) return;
  connection.run('UPDATE jobs SET priority = ? WHERE run_id = ? AND finished_at IS NULL', run.priority, runId);
}

function createRows({ connection, plans }: SqliteContext, commit: RunCommit, now: Timestamp): void {
  if (commit.create === null) throw new BrokenRows('a run is created with its plan');
  const { plan, planDigest } = commit.create;
  const nodes = [...commit.jobs, ...commit.gates];
  if (nodes.length !== plan.nodes.length) throw new BrokenRows('the plan has other nodes');
  plans.save(planDigest, plan, now);
  connection.run(insertRun, ...insertRunValues(commit.run));
  for (const job of commit.jobs) {
    const planned = plan.nodes[job.index];
    if (planned?.kind !== 'job') throw new BrokenRows(`job ${job.id} has no place in the plan`);
    connection.run(insertJob, ...insertJobValues(job, commit.run.priority, planned.cacheKey));
  }
  for (const gate of commit.gates) {
    if (plan.nodes[gate.index]?.kind !== 'gate') throw new BrokenRows(`gate ${gate.id} has no place in the plan`);
    connection.run(insertGate, ...insertGateValues(gate));
  }
  for (const node of plan.nodes) {
    node.needs.forEach((edge, place) => {
      connection.run(
        insertDependency,
        commit.runId,
        node.index,
        place,
        edge.upstream,
        edge.condition,
        edge.required ? 1 : 0,
      );
    });
  }
}

const insertDependency =
  'INSERT INTO job_dependencies (run_id, node_index, place, upstream_index, condition, required) VALUES (?, ?, ?, ?, ?, ?)';

function writeReceipts(connection: Connection, { runId, receipts }: RunCommit): void {
  for (const { messageId, command, outcome, code, reply, at } of receipts) {
    connection.run(
      'INSERT INTO receipts (run_id, message_id, command, outcome, code, reply, at) VALUES (?, ?, ?, ?, ?, ?, ?)',
      runId,
      messageId,
      command,
      outcome,
      code,
      JSON.stringify(reply),
      at,
    );
  }
}
