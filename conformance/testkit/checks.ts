/**
 * Checkers over what a store holds, to be run after any history. Each gives the findings in words; none is a sound
 * history. They read through the contract alone, so they judge every store and every program alike.
 *
 *  1 replay         folding a run's facts from its genesis gives the rows, version by version
 *  2 exactly once   an attempt, a lease and a job have at most one end each; every fact has an id of its own
 *  4 leases         epochs rise, one lease of a job is alive at a time, each attempt is bound to its own
 *  5 finality       nothing follows an end but audit; attempt numbers rise without a gap
 *  8 nothing lost   what has not ended has a recorded deadline, or something it waits for
 *  9 derived state  the verdict of the run, and its deadlines, are those its rows give
 */
import type { Deadline, Fact, RunAggregate, RunId } from '../../machines/index.ts';
import {
  checkRun,
  evolve,
  genesis,
  isGateEnded,
  isJobEnded,
  isLeaseLive,
  isRunTerminal,
  unfoldedColumns,
} from '../../machines/index.ts';
import type { Store } from '../../store/index.ts';
import { deadlinesOf, sameValue, wholeFoldDifferences } from '../core/index.ts';
import type { WholeRun } from './read-run.ts';
import { allRuns, readRun } from './read-run.ts';

export async function checkStore(store: Store): Promise<readonly string[]> {
  const { problems } = await store.check();
  const findings = problems.map(({ code, entity, message }) => `store: ${code} ${entity}: ${message}`);
  for (const run of await allRuns(store)) findings.push(...(await checkHistory(store, run)));
  return findings;
}

export async function checkHistory(store: Store, id: RunId): Promise<readonly string[]> {
  const run = await readRun(store, id);
  const found = [
    ...replay(run),
    ...exactlyOnce(run),
    ...leaseOrder(run),
    ...finality(run),
    ...derived(run),
    ...(await nothingLost(store, run)),
  ];
  return found.map((finding) => `run ${id}: ${finding}`);
}

/** 1 */
function replay({ loaded, aggregate, facts, attempts, leases }: WholeRun): readonly string[] {
  const { run, plan, nodes } = loaded;
  const shadow = genesis(
    {
      runId: run.id,
      plan,
      planDigest: run.planDigest,
      requestId: run.requestId,
      tenant: run.tenant,
      rerunOf: run.rerunOf,
      nodeIds: nodes.map(({ id }) => id),
    },
    { now: run.createdAt, actor: run.createdBy, creditSequence: run.creditSequence },
  );
  try {
    for (const { fact } of facts) evolve(shadow, fact);
  } catch (error) {
    return [`replay: ${String(error)}`];
  }
  return [
    ...wholeFoldDifferences(shadow, aggregate),
    ...attempts.flatMap((row) => rowDifferences('attempt', row, shadow.attempt(row.id), unfoldedColumns.attempt)),
    ...leases.flatMap((row) => rowDifferences('lease', row, shadow.lease(row.id), unfoldedColumns.lease)),
    ...(shadow.attempts.size === attempts.length ? [] : ['replay: attempts without a row']),
    ...(shadow.leases.size === leases.length ? [] : ['replay: leases without a row']),
  ];
}

function rowDifferences(what: string, stored: object, folded: object | undefined, skipped: readonly string[]) {
  if (folded === undefined) return [`replay: ${what} without facts`];
  const other = new Map(Object.entries(folded));
  return Object.entries(stored)
    .filter(([column, value]) => !skipped.includes(column) && !sameValue(value, other.get(column)))
    .map(([column]) => `replay: ${what}.${column} is not what the facts say`);
}

/** 2 */
function exactlyOnce({ facts }: WholeRun): readonly string[] {
  const findings: string[] = [];
  const seen = new Set<string>();
  const ends = new Set<string>();
  for (const [place, { eventId, sequence, fact }] of facts.entries()) {
    if (sequence !== place + 1 || fact.sequence !== sequence)
      findings.push(`facts: ${sequence} stands at ${place + 1}`);
    if (seen.has(eventId)) findings.push(`facts: event ${eventId} twice`);
    seen.add(eventId);
    if (!isEnd(fact)) continue;
    const entity = fact.entity === 'run' ? 'run' : `${fact.entity} ${fact.id}`;
    if (ends.has(entity)) findings.push(`exactly once: ${entity} ended twice`);
    ends.add(entity);
  }
  return findings;
}

function isEnd(fact: Fact): boolean {
  if (fact.from === fact.to) return false;
  switch (fact.entity) {
    case 'run':
      return isRunTerminal(fact.to);
    case 'job':
      return isJobEnded(fact.to);
    case 'attempt':
      return fact.type === 'AttemptEnded';
    case 'lease':
      return !isLeaseLive(fact.to);
    case 'gate':
      return isGateEnded(fact.to);
  }
}

/** 4 */
function leaseOrder({ facts, attempts }: WholeRun): readonly string[] {
  const findings: string[] = [];
  const alive = new Map<number, string>();
  const epochs = new Map<number, number>();
  for (const { fact } of facts) {
    if (fact.entity !== 'lease') continue;
    if (fact.type !== 'LeaseGranted') {
      if (isLeaseLive(fact.to)) continue;
      if (alive.get(fact.index) !== fact.id) findings.push(`leases: ${fact.id} ended without being the job's own`);
      alive.delete(fact.index);
      continue;
    }
    if (alive.has(fact.index)) findings.push(`leases: ${fact.id} granted while another one is alive`);
    alive.set(fact.index, fact.id);
    const epoch = fact.set.epoch ?? 0;
    if (epoch <= (epochs.get(fact.index) ?? 0)) findings.push(`leases: epoch ${epoch} of ${fact.id} does not rise`);
    epochs.set(fact.index, epoch);
  }
  const bound = new Set(attempts.map(({ leaseId }) => leaseId));
  if (bound.size !== attempts.length) findings.push('leases: two attempts share one');
  return findings;
}

/** 5 */
function finality({ facts, attempts }: WholeRun): readonly string[] {
  const findings: string[] = [];
  const ended = new Set<string>();
  for (const { fact } of facts) {
    const entity = fact.entity === 'run' ? 'run' : fact.id;
    if (ended.has(entity) && fact.type !== 'LateAttemptResultRejected')
      findings.push(`finality: ${fact.type} after the end of ${entity}`);
    if (isEnd(fact)) ended.add(entity);
  }
  const numbers = new Map<string, number[]>();
  for (const { jobId, number } of attempts) numbers.set(jobId, [...(numbers.get(jobId) ?? []), number]);
  for (const [job, given] of numbers) {
    const sorted = [...given].sort((a, b) => a - b);
    if (sorted.some((number, place) => number !== place + 1))
      findings.push(`finality: attempts of ${job} are ${sorted.join(', ')}`);
  }
  return findings;
}

/** 9, but for the deadlines. */
function derived({ aggregate }: WholeRun): readonly string[] {
  return checkRun(aggregate, aggregate.nodes).map((broken) => `derived: ${broken}`);
}

/** 8, and the deadlines of 9: every deadline that the rows ask for is a timer that still waits, and no other is. */
async function nothingLost(store: Store, { aggregate }: WholeRun): Promise<readonly string[]> {
  const timers = await store.timers(aggregate.run.id);
  const armed = new Set(timers.filter(({ state }) => state === 'Pending' || state === 'Claimed').map(({ key }) => key));
  const asked = isRunTerminal(aggregate.run.state) ? [] : deadlinesOf(aggregate);
  const wanted = new Set(asked.map(({ key }) => key));
  return [
    ...asked
      .filter((deadline) => !armed.has(deadline.key) && !isSpent(aggregate, deadline))
      .map(({ key }) => `nothing lost: deadline ${key} has no timer`),
    ...[...armed].filter((key) => !wanted.has(key)).map((key) => `nothing lost: timer ${key} guards nothing`),
    ...stranded(aggregate),
  ];
}

/** A phase that was too long has set its intent: its deadline stays on record and has no more to do. */
function isSpent(aggregate: RunAggregate, { kind, attempt }: Deadline): boolean {
  if (kind !== 'preparation' && kind !== 'execution' && kind !== 'upload') return false;
  return aggregate.nodes.some((row) => row.kind === 'job' && row.currentAttempt === attempt && row.intent !== null);
}

function stranded(aggregate: RunAggregate): readonly string[] {
  if (isRunTerminal(aggregate.run.state)) return [];
  return aggregate.nodes.flatMap((row) => {
    if (row.kind !== 'job' || row.state !== 'Pending' || aggregate.openUpstreams(row.index) > 0) return [];
    return [`nothing lost: ${row.node} is Pending and waits for nothing`];
  });
}
