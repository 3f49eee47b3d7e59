/**
 * A run as its owner sees it, and the commits that move it on. Each step takes the rows it was decided from and gives
 * the commit and the rows after it, so that two steps from the same rows are a race.
 */
import type {
  AttemptRow,
  CorrelationId,
  Deadline,
  EventId,
  Fact,
  GateRow,
  JobRow,
  LeaseRow,
  MessageId,
  NodeRow,
  Reason,
  RunRow,
  Timestamp,
} from '../../machines/index.ts';
import type { Receipt, RunCommit, StoredFact, TimerClaim } from '../contract.ts';
import type { Change, RunRows } from './change.ts';
import { factsBetween } from './facts.ts';
import { id } from './ids.ts';
import type { RunOptions } from './rows.ts';
import { newNodeRow, newRunRow } from './rows.ts';

export interface Step {
  readonly commit: RunCommit;
  readonly rows: RunRows;
}

const none: RunRows['attempts'] = new Map();

export function createStep(options: RunOptions & { readonly message?: string }): Step {
  const run = newRunRow(options);
  const nodes = options.plan.nodes.map((planned) => newNodeRow(options.runId, planned, options.now));
  const created: Fact = {
    entity: 'run',
    type: 'RunCreated',
    sequence: 1,
    at: options.now,
    reason: { code: 'RunRequested' },
    version: 1,
    from: null,
    to: run.state,
    set: {},
  };
  return {
    rows: { run, nodes, attempts: none, leases: new Map() },
    commit: {
      runId: run.id,
      expectedSequence: 0,
      create: { planDigest: run.planDigest, plan: options.plan },
      run,
      jobs: nodes.filter((node) => node.kind === 'job'),
      gates: nodes.filter((node) => node.kind === 'gate'),
      attempts: [],
      leases: [],
      facts: [stored(run, created)],
      timers: { set: [], cancel: [], fired: [] },
      guards: [],
      receipts: receiptsFor(options.message, options.now),
      audit: [],
    },
  };
}

/** Any change of rows as a commit, with one fact per row that changed its state. */
export function changeStep(rows: RunRows, change: Change, now: Timestamp, reason: Reason = { code: 'Granted' }): Step {
  const facts = factsBetween(rows, change, { at: now, reason });
  const run: RunRow = { ...rows.run, ...change.run, sequence: rows.run.sequence + facts.length };
  const written: readonly NodeRow[] = [...(change.jobs ?? []), ...(change.gates ?? [])];
  const nodes = [...rows.nodes];
  for (const node of written) nodes[node.index] = node;
  return {
    rows: {
      run,
      nodes,
      attempts: merged(rows.attempts, change.attempts ?? []),
      leases: merged(rows.leases, change.leases ?? []),
    },
    commit: {
      runId: run.id,
      expectedSequence: rows.run.sequence,
      create: null,
      run,
      jobs: change.jobs ?? [],
      gates: change.gates ?? [],
      attempts: change.attempts ?? [],
      leases: change.leases ?? [],
      facts: facts.map((fact) => stored(run, fact)),
      timers: { set: [], cancel: [], fired: [], ...change.timers },
      guards: change.guards ?? [],
      receipts: receiptsFor(change.message, now),
      audit: [],
    },
  };
}

function merged<Id, Row extends { readonly id: Id }>(
  old: ReadonlyMap<Id, Row>,
  rows: readonly Row[],
): ReadonlyMap<Id, Row> {
  return rows.length === 0 ? old : new Map([...old, ...rows.map((row) => [row.id, row] as const)]);
}

function stored(run: RunRow, fact: Fact): StoredFact {
  return {
    eventId: id<EventId>(`${run.id}.event-${fact.sequence}`),
    schemaVersion: 1,
    runId: run.id,
    sequence: fact.sequence,
    occurredAt: fact.at,
    actor: 'system:suite',
    correlationId: id<CorrelationId>(`correlation-${run.id}`),
    causationId: fact.sequence === 1 ? null : id<EventId>(`${run.id}.event-${fact.sequence - 1}`),
    fact,
  };
}

function receiptsFor(message: string | undefined, at: Timestamp): readonly Receipt[] {
  if (message === undefined) return [];
  return [
    {
      messageId: id<MessageId>(message),
      command: 'Suite',
      outcome: 'accepted',
      code: null,
      reply: { kind: 'none' },
      at,
    },
  ];
}

export function jobAt(rows: RunRows, index: number): JobRow {
  const node = rows.nodes[index];
  if (node?.kind !== 'job') throw new Error(`node ${index} is no job`);
  return node;
}

export function gateAt(rows: RunRows, index: number): GateRow {
  const node = rows.nodes[index];
  if (node?.kind !== 'gate') throw new Error(`node ${index} is no gate`);
  return node;
}

export function currentLease(rows: RunRows, index: number): LeaseRow {
  const lease = rows.leases.get(jobAt(rows, index).currentLease ?? id(''));
  if (lease === undefined) throw new Error(`job ${index} has no current lease`);
  return lease;
}

export function currentAttempt(rows: RunRows, index: number): AttemptRow {
  const attempt = rows.attempts.get(jobAt(rows, index).currentAttempt ?? id(''));
  if (attempt === undefined) throw new Error(`job ${index} has no current attempt`);
  return attempt;
}

export function timerStep(rows: RunRows, timers: Change['timers'], now: Timestamp): Step {
  return changeStep(rows, timers === undefined ? {} : { timers }, now);
}

export function deadline(key: string, dueAt: Timestamp, entity = 'entity'): Deadline {
  return { key, kind: 'retry', dueAt, entity, attempt: null, lease: null };
}

export const claim = (key: string, token: string): TimerClaim => ({ key, token });
