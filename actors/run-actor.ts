/**
 * The actor of one run: a bounded mailbox, one group of commands at a time, decided on the state in memory and
 * committed by compare-and-set (architecture: The run is the actor).
 *
 *  A1 callers are answered only after the commit is known.
 *  A2 memory is a cache: whoever loses the compare-and-set, or meets a guard that fails, reloads and decides again.
 *  A3 a refusal or no-op is answered only when the store still stands where memory does.
 *  A4 an unknown commit is resolved by looking for its first fact, never by guessing.
 *  A5 outages are credited before anything is judged.
 *  A6 a message that was answered before is answered from its receipt; being late twice leaves no second mark.
 */
import type {
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
import { creditCommand, hydrate, sessionOf, takeOverLeases } from './hydrate.ts';
import type { Ports } from './ports.ts';
import type { SessionCache } from './sessions.ts';

export interface RunActor {
  readonly runId: RunId;
  /** Never rejects for an outcome of the command; only when the store is out of reach. */
  send(envelope: Envelope): Promise<CommandResult>;
  /**
   * Reads the state, loading it if need be; null where there is no such run. It may be behind the store, and while a
   * commit is under way ahead of it: what is read is a hint, and what is made of it a command.
   */
  read<T>(reader: (aggregate: RunAggregate) => T): Promise<T | null>;
  /** Brings memory up to the store: another process may have written, or renewed leases without a fact. */
  refresh(): Promise<void>;
  /** Gives the run the outage credits it has not been judged against. */
  applyCredits(): Promise<void>;
  /** A renewal went through: memory follows. */
  noteRenewal(lease: LeaseId, expiresAt: Timestamp): void;
  /** No command waits or runs. */
  readonly idle: boolean;
  /** Resolves when the mailbox has been worked off. */
  settled(): Promise<void>;
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
  let pumped: Promise<void> = Promise.resolve();
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
    // The time that is judged by is taken before anything is looked at: what happens meanwhile, a renewal elsewhere or
    // an outage, then finds the commit's guards and not a verdict without them.
    const now = ports.store.now();
    await ports.heartbeat.ensureFresh();
    // What a reader has begun to load may be older than what was committed since.
    const fresh = aggregate === null && loading === null;
    const state = await load();
    if (state === null) {
      answerAll(batch, { outcome: 'rejected', code: 'UnknownEntity', detail: `there is no run ${runId}` });
      return [];
    }
    if (await creditOutages(state, fresh)) return batch;
    const hydrated = await hydrate(ports.store, state, batch, { now, fresh });
    if (hydrated === 'behind') {
      aggregate = null;
      return batch;
    }
    const undecided = hydrated.late.length === 0 ? batch : await answerRepeated(batch, hydrated.late);
    const sessions = undecided.flatMap((one) => sessionOf(one.envelope.command) ?? []);
    const active = await ports.sessions.activeAmong(sessions);
    const group = decideGroup(state, undecided, (waiting) => contextFor(waiting, now, active), ports.ids);
    state.forget(hydrated.fetched, []);
    if (group.commit === null) return answerWithoutCommit(state, fresh, group.answered);
    return settle(group, await ports.committer.commit(group.commit));
  };

  const contextFor = (waiting: Waiting, now: Timestamp, active: ReadonlySet<SessionId>): DecideContext =>
    decideContext({
      now,
      actor: waiting.envelope.actor,
      random: ports.random,
      creditSequence: creditsConsidered,
      isSessionActive: (session) => active.has(session),
      limits: ports.limits,
    });

  /**
   * A5: credits this run has not been judged against yet, oldest first, in a commit of their own: what comes after is
   * decided on the leases as the store keeps them, which gives nothing to those of a closed session.
   */
  const creditOutages = async (state: RunAggregate, fresh: boolean): Promise<boolean> => {
    const newest = ports.heartbeat.creditSequence;
    if (newest <= creditsConsidered) return false;
    const credits = await ports.store.credits(creditsConsidered);
    if (!fresh && (await takeOverLeases(ports.store, state)) === 'behind') return dropMemory();
    const now = ports.store.now();
    const waiting = credits.map((credit) => creditCommand(credit, (error) => ports.report('credit', error)));
    const group = decideGroup(state, waiting, (one) => contextFor(one, now, new Set()), ports.ids);
    if (group.commit === null) {
      creditsConsidered = newest;
      return false;
    }
    const outcome = await ports.committer.commit(group.commit);
    if (outcome.kind === 'failed') throw outcome.cause;
    if (outcome.kind === 'committed') ports.onCommitted({ facts: group.facts, commit: group.commit, aggregate: state });
    return dropMemory();
  };

  const dropMemory = (): true => {
    aggregate = null;
    return true;
  };

  const answerRepeated = async (
    batch: readonly Waiting[],
    messages: readonly MessageId[],
  ): Promise<readonly Waiting[]> => {
    const receipts = new Map((await ports.store.receipts(runId, messages)).map((one) => [one.messageId, one]));
    return batch.filter((waiting) => {
      const { messageId } = waiting.envelope;
      const receipt = messageId === null ? undefined : receipts.get(messageId);
      if (receipt !== undefined) waiting.resolve(fromReceipt(receipt));
      return receipt === undefined;
    });
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
        return decideSingly(group, outcome.cause);
    }
  };

  /** The store refused the rows: whoever caused it is told, the others of the group are decided without it. */
  const decideSingly = async (group: Group, cause: unknown): Promise<readonly Waiting[]> => {
    if (group.answered.length === 1) throw cause;
    for (const { waiting } of group.answered) {
      aggregate = null;
      try {
        await processBatch([waiting]);
      } catch (error) {
        waiting.reject(error);
      }
    }
    return [];
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
    ports.failpoint('command:before-reply');
    followUp(group);
    if (group.facts.length > 0 && group.commit !== null && aggregate !== null)
      ports.onCommitted({ facts: group.facts, commit: group.commit, aggregate });
    await answerRefusals(group.answered);
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

  const answerDuplicates = (group: Group, messages: readonly MessageId[]): Promise<readonly Waiting[]> =>
    answerRepeated(
      group.answered.map((one) => one.waiting),
      messages,
    );

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
    const asked = new Map<MessageId, Answered>();
    for (const one of answered) {
      const { messageId } = one.waiting.envelope;
      if (one.result.outcome === 'accepted' || messageId === null) one.waiting.resolve(one.result);
      else asked.set(messageId, one);
    }
    if (asked.size === 0) return;
    const receipts = await ports.store.receipts(runId, [...asked.keys()]);
    const byId = new Map(receipts.map((one) => [one.messageId, one]));
    for (const { waiting, result } of answered) {
      const { messageId } = waiting.envelope;
      const receipt = messageId === null ? undefined : byId.get(messageId);
      waiting.resolve(receipt === undefined ? result : fromReceipt(receipt));
    }
  };

  const deliver = (envelope: Envelope): Promise<CommandResult> =>
    new Promise((resolve, reject) => {
      mailbox.push({ envelope, resolve, reject });
      if (pumping) return;
      pumping = true;
      pumped = new Promise((done) => {
        ports.wake.soon(() => void pump().then(done));
      });
    });

  return {
    runId,
    async send(envelope) {
      if (mailbox.length < ports.limits.mailboxMax) return deliver(envelope);
      const detail = `run ${runId} has ${mailbox.length} commands waiting`;
      return { outcome: 'rejected', code: 'Overloaded', detail };
    },
    async read(reader) {
      const state = await load();
      return state === null ? null : reader(state);
    },
    async applyCredits() {
      // Any command is preceded by the pending credits, and waits for those that are just being committed; this one
      // changes nothing by itself. A full mailbox must not cost a runner its lease, so the bound does not count here.
      await deliver(internal({ type: 'JudgeNodes', nodes: [] }, 'system:heartbeat'));
    },
    async refresh() {
      const held = aggregate;
      if (held === null || pumping) return;
      const sequence = await ports.store.sequence(runId);
      const leases = await ports.store.leases(runId, { live: true });
      if (aggregate !== held || pumping) return;
      if (sequence !== held.sequence) aggregate = null;
      else for (const row of leases) if (held.lease(row.id)?.version === row.version) held.putLease(row);
    },
    noteRenewal(id, expiresAt) {
      const lease = aggregate?.lease(id);
      if (lease?.state === 'Held' && expiresAt > lease.expiresAt)
        aggregate?.putLease({ ...lease, expiresAt, renewedAt: ports.store.now(), creditMs: 0 });
    },
    settled: () => pumped,
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
