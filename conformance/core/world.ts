/**
 * One run in memory, driven command by command: what an actor and a store do around `decide`, without either.
 *
 *  W1 a command is decided on the state, its changes are absorbed; ended rows leave the state and go to the archive.
 *  W2 a message about an ended attempt finds its rows, as an actor finds them in the store.
 *  W3 facts and timers of every commit are folded anew beside the state; `problems` says what differs.
 * Follow-ups (`judge`, `lost`) wait in `pending` until somebody runs them: reconcilers would find them too.
 */
import type {
  AttemptId,
  AttemptRow,
  Changes,
  Charts,
  Command,
  CreateRun,
  DecideContext,
  Decision,
  ExecutablePlan,
  Fact,
  LeaseId,
  LeaseRow,
  Limits,
  RunAggregate,
  RunId,
  SessionId,
} from '../../machines/index.ts';
import {
  absorb,
  checkLeases,
  checkRun,
  decide,
  decideContext,
  decideCreate,
  genesis,
  charts as realCharts,
  limits as realLimits,
} from '../../machines/index.ts';
import { emptyFacts, foldDifferences, silentChanges } from './fold.ts';
import { idSource } from './ids.ts';
import { fakeDigest } from './plans.ts';
import type { Rows } from './rows.ts';
import { deepFreeze } from './same-value.ts';
import type { TimerFold } from './timers.ts';
import { foldTimers, timerDifferences } from './timers.ts';

export interface WorldOptions {
  readonly charts?: Charts;
  readonly limits?: Partial<Limits>;
  readonly random?: () => number;
  /** Freezes every row, so that a decision that writes to one throws. */
  readonly frozen?: boolean;
}

export interface World extends Rows {
  readonly plan: ExecutablePlan;
  readonly state: RunAggregate;
  /** The run as its facts alone tell it. */
  readonly shadow: RunAggregate;
  /** The run before its first fact, made anew. */
  born(): RunAggregate;
  readonly created: Changes;
  readonly facts: readonly Fact[];
  readonly timers: TimerFold;
  /** Sessions that take no work. */
  readonly inactive: Set<SessionId>;
  readonly pending: Command[];
  readonly limits: Limits;
  readonly nextId: ReturnType<typeof idSource>;
  now: number;
  creditSequence: number;
  context(actor?: string): DecideContext;
  /** The decision alone; nothing changes. */
  peek(command: Command, actor?: string): Decision;
  submit(command: Command, actor?: string): Decision;
  /** Runs follow-ups until none is left. */
  followUp(): readonly Decision[];
  /** Extends a held lease as a store does: a compare-and-set on its row alone, no fact. */
  renew(lease: LeaseId): boolean;
  /** What does not hold; empty in every correct world. */
  problems(): readonly string[];
}

const startAt = 1_000_000;
/** More follow-ups than any finite graph here can ask for: the propagation would never end. */
const followUpsMax = 1_000;

export function createWorld(plan: ExecutablePlan, options: WorldOptions = {}): World {
  const nextId = idSource();
  const limits: Limits = { ...realLimits, ...options.limits };
  const freeze = <T>(value: T): T => (options.frozen === true ? deepFreeze(value) : value);
  const inactive = new Set<SessionId>();
  const attempts = new Map<AttemptId, AttemptRow>();
  const leases = new Map<LeaseId, LeaseRow>();
  const facts: Fact[] = [];
  const timers: TimerFold = new Map();
  const pending: Command[] = [];
  const found: string[] = [];
  const random = options.random ?? (() => 0.5);
  const clock = { now: startAt, creditSequence: 0 };

  const context = (actor = 'user:ada'): DecideContext =>
    decideContext({
      ...clock,
      actor,
      random,
      limits,
      isSessionActive: (session) => !inactive.has(session),
      charts: options.charts ?? realCharts,
    });
  const input: CreateRun = {
    runId: nextId<RunId>(),
    plan,
    planDigest: fakeDigest(plan.name),
    requestId: 'request-1',
    tenant: 'default',
    rerunOf: null,
    nodeIds: plan.nodes.map(() => nextId<string>()),
  };
  const begin = context();
  const state = genesis(input, begin);
  const shadow = genesis(input, begin);

  const commit = (changes: Changes): void => {
    freeze(changes);
    found.push(...silentChanges(state, changes), ...emptyFacts(changes.facts), ...foldDifferences(shadow, changes));
    absorb(state, changes);
    for (const row of changes.attempts) attempts.set(row.id, row);
    for (const row of changes.leases) leases.set(row.id, row);
    facts.push(...changes.facts);
    foldTimers(timers, changes.timers);
    if (changes.judge.length > 0) pending.push({ type: 'JudgeNodes', nodes: changes.judge });
    for (const job of changes.lost) pending.push({ type: 'ResolveLost', job });
  };
  /** Shows `decide` the archived rows a command speaks of, and takes them away again. */
  const withArchive = <T>(command: Command, decided: () => T): T => {
    const named = 'authority' in command ? command.authority : command;
    const attempt = 'attempt' in named ? attempts.get(named.attempt) : undefined;
    const lease = 'lease' in named ? leases.get(named.lease) : undefined;
    const shownAttempt = attempt !== undefined && state.attempt(attempt.id) === undefined;
    const shownLease = lease !== undefined && state.lease(lease.id) === undefined;
    if (shownAttempt) state.putAttempt(attempt);
    if (shownLease) state.putLease(lease);
    const answer = decided();
    state.forget(shownAttempt ? [attempt.id] : [], shownLease ? [lease.id] : []);
    return answer;
  };
  const peek = (command: Command, actor?: string): Decision =>
    withArchive(command, () => freeze(decide(state, command, context(actor))));
  const submit = (command: Command, actor?: string): Decision => {
    const decision = peek(command, actor);
    if (decision.outcome === 'accepted') commit(decision.changes);
    else if (decision.outcome === 'rejected' && decision.audit !== null) commit(decision.audit);
    return decision;
  };
  const created = decideCreate(input, context()).changes;
  commit(created);

  const row = (node: string) => {
    const at = state.index.byName.get(node);
    if (at === undefined) throw new Error(`the plan has no node ${node}`);
    return state.node(at);
  };
  return {
    plan,
    row,
    state,
    shadow,
    born: () => genesis(input, begin),
    created,
    facts,
    timers,
    attempts,
    leases,
    inactive,
    pending,
    limits,
    nextId,
    context,
    peek,
    submit,
    get now() {
      return clock.now;
    },
    set now(at) {
      clock.now = at;
    },
    get creditSequence() {
      return clock.creditSequence;
    },
    set creditSequence(sequence) {
      clock.creditSequence = sequence;
    },
    followUp() {
      const decisions: Decision[] = [];
      for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
        if (decisions.length > followUpsMax) throw new Error('follow-ups do not end');
        decisions.push(submit(next, 'system:control'));
      }
      return decisions;
    },
    renew(id) {
      const lease = state.lease(id);
      if (lease?.state !== 'Held' || lease.expiresAt <= clock.now) return false;
      const job = state.job(lease.jobIndex);
      const until = Math.min(clock.now + lease.ttlMs, job.terminateBy ?? Number.POSITIVE_INFINITY);
      const renewed = freeze({
        ...lease,
        expiresAt: Math.max(lease.expiresAt, until),
        renewedAt: clock.now,
        creditMs: 0,
      });
      state.putLease(renewed);
      leases.set(id, renewed);
      const timer = timers.get(`lease/${id}`);
      if (timer !== undefined) timers.set(timer.key, { ...timer, dueAt: renewed.expiresAt });
      return true;
    },
    problems: () => [
      ...found,
      ...checkRun(state, state.nodes),
      ...checkLeases(state, state.leases.values()),
      ...timerDifferences(timers, state),
    ],
  };
}
