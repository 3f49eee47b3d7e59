/**
 * The actor of one run: a bounded mailbox, one group of commands at a time, decided on the state in memory and
 * committed by compare-and-set (architecture: The run is the actor).
 *
 *  A1 callers are answered only after the commit is known.
 *  A2 memory is a cache: whoever loses the compare-and-set, or meets a guard that fails, reloads and decides again.
 *  A3 a refusal or no-op is answered only when the store still stands where memory does.
 *  A4 an unknown commit is resolved by looking for its first fact, never by guessing.
 *  A5 outages are credited before anything is judged.
 */
import type {
  AttemptId,
  Command,
  DecideContext,
  LeaseId,
  MessageId,
  RunAggregate,
  RunId,
  SessionId,
  Timestamp,
} from '../machines/index.ts';
import { aggregateOf, decideContext } from '../machines/index.ts';
import type { CommitOutcome, Receipt, RunCommit, StoredFact } from '../store/index.ts';
import type { CommandResult } from './api.ts';
import type { Committer } from './committer.ts';
import type { Envelope, Waiting } from './envelope.ts';
import { internal } from './envelope.ts';
import type { Answered, Group } from './group.ts';
import { decideGroup } from './group.ts';
import type { Heartbeat } from './heartbeat.ts';
import type { Ports } from './ports.ts';
import type { SessionCache } from './sessions.ts';

export interface RunActor {
  readonly runId: RunId;
  /** Never rejects for an outcome of the command; only when the store is out of reach. */
  send(envelope: Envelope): Promise<CommandResult>;
  /** Reads the state, loading it if need be; null where there is no such run. */
  read<T>(reader: (aggregate: RunAggregate) => T): Promise<T | null>;
  /** Drops memory that is behind the store (another process wrote). */
  refresh(): Promise<void>;
  /** Gives the run the outage credits it has not been judged against. */
  applyCredits(): Promise<void>;
  /** A renewal went through: memory follows. */
  noteRenewal(lease: LeaseId, expiresAt: Timestamp): void;
  /** No command waits or runs. */
  readonly idle: boolean;
  readonly ended: boolean;
}

export interface RunActorPorts extends Ports {
  readonly committer: Committer;
  readonly heartbeat: Heartbeat;
  readonly sessions: SessionCache;
  /** After every commit that appended facts. */
  readonly onCommitted: (committed: {
    readonly facts: readonly StoredFact[];
    readonly commit: RunCommit;
    readonly aggregate: RunAggregate;
  }) => void;
}

/** Rounds of losing the compare-and-set before the senders are told; each round somebody else has won. */
const roundsMax = 1_000;

export function createRunActor(runId: RunId, ports: RunActorPorts): RunActor {
  const mailbox: Waiting[] = [];
  let aggregate: RunAggregate | null = null;
  let creditsConsidered = 0;
  let pumping = false;

  let loading: Promise<RunAggregate | null> | null = null;

  /** One load at a time, so that a reader never replaces the state a group is being decided on. */
  const load = async (): Promise<RunAggregate | null> => {
    if (aggregate !== null) return aggregate;
    loading ??= loadNow().finally(() => {
      loading = null;
    });
    return loading;
  };

  const loadNow = async (): Promise<RunAggregate | null> => {
    const loaded = await ports.store.load(runId);
    if (loaded === null) return null;
    aggregate = aggregateOf(loaded);
    creditsConsidered = loaded.run.creditSequence;
    return aggregate;
  };

  const pump = async (): Promise<void> => {
    while (mailbox.length > 0) {
      const batch = mailbox.splice(0, ports.limits.groupCommitMax);
      try {
        await processBatch(batch);
      } catch (error) {
        aggregate = null;
        for (const waiting of batch) waiting.reject(error);
      }
    }
    pumping = false;
  };

  const processBatch = async (batch: readonly Waiting[]): Promise<void> => {
    let pending = batch;
    for (let round = 0; pending.length > 0; round += 1) {
      if (round >= roundsMax) throw new Error(`run ${runId}: lost the compare-and-set ${roundsMax} times in a row`);
      pending = await tryOnce(pending);
    }
  };

  /** Decides and commits once; gives back what has to be decided again. */
  const tryOnce = async (batch: readonly Waiting[]): Promise<readonly Waiting[]> => {
    const fresh = aggregate === null;
    const state = await load();
    if (state === null) {
      answerAll(batch, { outcome: 'rejected', code: 'UnknownEntity', detail: `there is no run ${runId}` });
      return [];
    }
    const credits = await pendingCredits();
    await hydrate(state, batch, fresh);
    await ports.sessions.prefetch(batch.flatMap((one) => sessionOf(one.envelope.command) ?? []));
    const now = ports.store.now();
    const group = decideGroup(state, [...credits, ...batch], (waiting) => contextFor(waiting, now), ports.ids);
    if (group.commit === null) return answerWithoutCommit(state, fresh, group.answered);
    return settle(group, await ports.committer.commit(group.commit));
  };

  const contextFor = (waiting: Waiting, now: Timestamp): DecideContext =>
    decideContext({
      now,
      actor: waiting.envelope.actor,
      random: ports.random,
      creditSequence: creditsConsidered,
      isSessionActive: (session) => ports.sessions.isActive(session),
      limits: ports.limits,
    });

  /** A5: credits this run has not been judged against yet, oldest first. */
  const pendingCredits = async (): Promise<readonly Waiting[]> => {
    const newest = ports.heartbeat.creditSequence;
    if (newest <= creditsConsidered) return [];
    const credits = await ports.store.credits(creditsConsidered);
    creditsConsidered = newest;
    return credits.map((credit) => ({
      envelope: internal(
        { type: 'CreditOutage', credit: credit.sequence, gapStart: credit.gapStart, gapMs: credit.gapMs },
        'system:heartbeat',
      ),
      resolve: () => {},
      reject: (error) => ports.report('credit', error),
    }));
  };

  /** Brings in what decisions may look at and memory lacks: ended attempts, and leases another process renewed. */
  const hydrate = async (state: RunAggregate, batch: readonly Waiting[], fresh: boolean): Promise<void> => {
    const unknown = new Set<AttemptId>();
    let stale = false;
    const now = ports.store.now();
    for (const { envelope } of batch) {
      const named = leaseOf(envelope.command);
      if (named === null) continue;
      if (named.attempt !== null && state.attempt(named.attempt) === undefined) unknown.add(named.attempt);
      const lease = state.lease(named.lease);
      stale ||= lease !== undefined && (lease.state === 'Offered' ? lease.offerExpiresAt : lease.expiresAt) <= now;
    }
    if (unknown.size > 0) {
      for (const row of await ports.store.attempts(runId, { ids: [...unknown] }))
        if (state.attempt(row.id) === undefined) state.putAttempt(row);
    }
    if (stale && !fresh) {
      for (const row of await ports.store.leases(runId, { live: true }))
        if (state.lease(row.id) !== undefined) state.putLease(row);
    }
  };

  /** A3: nothing to write, so the compare-and-set cannot tell whether memory was current; ask. */
  const answerWithoutCommit = async (
    state: RunAggregate,
    fresh: boolean,
    answered: readonly Answered[],
  ): Promise<readonly Waiting[]> => {
    if (!fresh && (await ports.store.sequence(runId)) !== state.sequence) {
      aggregate = null;
      return answered.map((one) => one.waiting);
    }
    await answerRefusals(answered);
    return [];
  };

  const settle = async (group: Group, outcome: CommitOutcome): Promise<readonly Waiting[]> => {
    switch (outcome.kind) {
      case 'committed':
        await committed(group);
        return [];
      case 'conflict':
        if (outcome.why === 'guard') await recheck();
        return retryAll(group);
      case 'duplicate':
        aggregate = null;
        return answerDuplicates(group, outcome.messages);
      case 'unknown':
        return resolveUnknown(group);
      case 'exists':
        throw new Error(`run ${runId}: only creation can meet an existing request`);
      case 'failed':
        throw outcome.cause;
    }
  };

  /** A guard failed by the store's own view: look again at sessions and at the heartbeat before deciding again. */
  const recheck = async (): Promise<void> => {
    ports.sessions.forgetAll();
    await ports.heartbeat.beat();
  };

  const retryAll = (group: Group): readonly Waiting[] => {
    aggregate = null;
    return group.answered.map((one) => one.waiting);
  };

  const committed = async (group: Group): Promise<void> => {
    const state = aggregate;
    await answerRefusals(group.answered);
    ports.failpoint('command:before-reply');
    if (state === null) return;
    followUp(group);
    if (group.facts.length > 0 && group.commit !== null)
      ports.onCommitted({ facts: group.facts, commit: group.commit, aggregate: state });
  };

  /** What the commit leaves to be done: hints only, reconcilers find the same work. */
  const followUp = (group: Group): void => {
    const causationId = group.facts.at(-1)?.eventId ?? null;
    const max = ports.limits.judgeBatchMax;
    for (let from = 0; from < group.judge.length; from += max) {
      enqueueInternal({ type: 'JudgeNodes', nodes: group.judge.slice(from, from + max) }, causationId);
    }
    for (const job of group.lost) enqueueInternal({ type: 'ResolveLost', job }, causationId);
  };

  const enqueueInternal = (command: Command, causationId: Envelope['causationId']): void => {
    mailbox.unshift({
      envelope: internal(command, 'system:follow-up', { causationId }),
      resolve: () => {},
      reject: (error) => ports.report('follow-up', error),
    });
  };

  const answerDuplicates = async (group: Group, messages: readonly MessageId[]): Promise<readonly Waiting[]> => {
    const receipts = new Map((await ports.store.receipts(runId, messages)).map((one) => [one.messageId, one]));
    const again: Waiting[] = [];
    for (const { waiting } of group.answered) {
      const receipt = waiting.envelope.messageId === null ? undefined : receipts.get(waiting.envelope.messageId);
      if (receipt === undefined) again.push(waiting);
      else waiting.resolve(fromReceipt(receipt));
    }
    return again;
  };

  /** A4. Receipts without facts are looked up by their message ids. */
  const resolveUnknown = async (group: Group): Promise<readonly Waiting[]> => {
    const first = group.facts[0];
    aggregate = null;
    if (first === undefined)
      return answerDuplicates(
        group,
        group.answered.flatMap((one) => one.waiting.envelope.messageId ?? []),
      );
    const [found] = await ports.store.facts(runId, { after: first.sequence - 1, limit: 1 });
    if (found?.eventId !== first.eventId) return group.answered.map((one) => one.waiting);
    await load();
    await committed(group);
    return [];
  };

  /** Refusals and no-ops of repeated messages are answered from their receipt, if there is one. */
  const answerRefusals = async (answered: readonly Answered[]): Promise<void> => {
    const asked = answered.filter(
      (one) => one.result.outcome !== 'accepted' && one.waiting.envelope.messageId !== null,
    );
    const ids = asked.flatMap((one) => one.waiting.envelope.messageId ?? []);
    const receipts = ids.length === 0 ? [] : await ports.store.receipts(runId, ids);
    const byId = new Map(receipts.map((one) => [one.messageId, one]));
    for (const { waiting, result } of answered) {
      const receipt =
        result.outcome === 'accepted' || waiting.envelope.messageId === null
          ? undefined
          : byId.get(waiting.envelope.messageId);
      waiting.resolve(receipt === undefined ? result : fromReceipt(receipt));
    }
  };

  return {
    runId,
    send(envelope) {
      return new Promise((resolve, reject) => {
        if (mailbox.length >= ports.limits.mailboxMax) {
          resolve({
            outcome: 'rejected',
            code: 'Overloaded',
            detail: `run ${runId} has ${mailbox.length} commands waiting`,
          });
          return;
        }
        mailbox.push({ envelope, resolve, reject });
        if (pumping) return;
        pumping = true;
        ports.wake.soon(() => void pump());
      });
    },
    async read(reader) {
      const state = await load();
      return state === null ? null : reader(state);
    },
    async applyCredits() {
      // Any command is preceded by the pending credits; this one changes nothing by itself.
      if (ports.heartbeat.creditSequence > creditsConsidered || aggregate === null)
        await this.send(internal({ type: 'JudgeNodes', nodes: [] }, 'system:heartbeat'));
    },
    async refresh() {
      const held = aggregate;
      if (
        held !== null &&
        !pumping &&
        (await ports.store.sequence(runId)) !== held.sequence &&
        aggregate === held &&
        !pumping
      )
        aggregate = null;
    },
    noteRenewal(id, expiresAt) {
      const lease = aggregate?.lease(id);
      if (lease !== undefined) aggregate?.putLease({ ...lease, expiresAt, renewedAt: ports.store.now(), creditMs: 0 });
    },
    get idle() {
      return !pumping && mailbox.length === 0;
    },
    get ended() {
      return aggregate !== null && aggregate.run.finishedAt !== null;
    },
  };
}

function answerAll(batch: readonly Waiting[], result: CommandResult): void {
  for (const waiting of batch) waiting.resolve(result);
}

function fromReceipt(receipt: Receipt): CommandResult {
  if (receipt.outcome === 'accepted') return { outcome: 'accepted', reply: receipt.reply };
  return { outcome: 'no-op', code: receipt.code ?? 'Duplicate', reply: receipt.reply };
}

/** The lease a command speaks of, and the attempt if it names one. */
function leaseOf(command: Command): { readonly lease: LeaseId; readonly attempt: AttemptId | null } | null {
  if ('authority' in command) return { lease: command.authority.lease, attempt: command.authority.attempt };
  switch (command.type) {
    case 'ExpireLease':
    case 'ExpireOffer':
      return { lease: command.lease, attempt: null };
    default:
      return null;
  }
}

function sessionOf(command: Command): SessionId | null {
  if (command.type === 'GrantLease') return command.session;
  return command.type === 'AcceptLease' ? command.authority.session : null;
}
