/**
 * Keeps the leases of running attempts, and ends the attempts that lose theirs (000 §42, §175, §190).
 *
 *  K1 A renewal extends the local deadline to (time the request was sent) + lease - margin, never
 *     beyond the server's own expiry.
 *  K2 A renewal that fails changes nothing; it is tried again while time is left.
 *  K3 When the deadline passes, or the answer is Stale, the process groups are killed here, before
 *     anyone is told: this code runs in a thread of its own, so nothing the agent does can delay it.
 *  K4 A group that arrives for an attempt that is not kept (any more) is killed at once.
 */
import type { RunnerClock } from '../clock.ts';
import type { Directive, MessageAuthority, RunnerReply, RunnerRequest } from '../protocol/index.ts';
import { protocolVersion } from '../protocol/version.ts';

export type KeeperEvent =
  | { readonly kind: 'directive'; readonly attempt: string; readonly directive: Directive; readonly deadline: number }
  | { readonly kind: 'expired'; readonly attempt: string }
  | { readonly kind: 'trouble'; readonly message: string }
  | { readonly kind: 'recovered' }
  /** The keeper itself is gone: nothing guards the deadlines any more. */
  | { readonly kind: 'failed'; readonly message: string };

export interface KeeperSession {
  readonly runner: string;
  readonly session: string;
  readonly heartbeatEveryMs: number;
}

export interface LeaseKeeper {
  open(session: KeeperSession): void;
  /** Starts keeping, or tells of a renewal that came with another answer. `deadline` is monotonic. */
  watch(authority: MessageAuthority, deadline: number): void;
  addGroup(attempt: string, group: number): void;
  removeGroup(attempt: string, group: number): void;
  unwatch(attempt: string): void;
  /** Resolves when no timer, request or thread is left. */
  close(): Promise<void>;
}

export interface KeeperOptions {
  readonly clock: Pick<RunnerClock, 'monotonic' | 'setTimer'>;
  readonly newMessageId: () => string;
  readonly send: (request: RunnerRequest, signal: AbortSignal) => Promise<RunnerReply>;
  readonly kill: (group: number) => void;
  readonly emit: (event: KeeperEvent) => void;
}

/** Attempts in one heartbeat message, as the protocol bounds it. */
const batchMax = 256;
const marginMsMax = 1_000;
const retryMsMin = 20;

/** Until when an answer to a request sent at `sentAt` lets the attempt work. */
export function localDeadline(sentAt: number, leaseMs: number): number {
  return sentAt + leaseMs - Math.min(marginMsMax, leaseMs / 10);
}

interface Kept {
  readonly authority: MessageAuthority;
  readonly groups: Set<number>;
  deadline: number;
  cancelTimer: () => void;
  /** Answered Stale: no longer renewed; its timer still bounds what the agent says last. */
  stale: boolean;
}

export function createLeaseKeeper(options: KeeperOptions): LeaseKeeper {
  const { clock, emit } = options;
  const kept = new Map<string, Kept>();
  const closing = new AbortController();
  let session: KeeperSession | null = null;
  let cancelBeat: (() => void) | null = null;
  let troubled = false;

  function kill(entry: Kept): void {
    for (const group of entry.groups) options.kill(group);
  }
  function forget(attempt: string, entry: Kept): void {
    entry.cancelTimer();
    kept.delete(attempt);
  }
  function extend(attempt: string, entry: Kept, deadline: number): void {
    entry.deadline = Math.max(entry.deadline, deadline);
    entry.cancelTimer();
    entry.cancelTimer = clock.setTimer(() => judge(attempt), entry.deadline - clock.monotonic());
  }
  function judge(attempt: string): void {
    const entry = kept.get(attempt);
    if (entry === undefined) return;
    if (clock.monotonic() < entry.deadline) {
      extend(attempt, entry, entry.deadline);
      return;
    }
    forget(attempt, entry);
    kill(entry);
    emit({ kind: 'expired', attempt });
  }

  function schedule(ms: number): void {
    cancelBeat?.();
    cancelBeat = closing.signal.aborted ? null : clock.setTimer(() => void beat(), ms);
  }
  async function beat(): Promise<void> {
    cancelBeat = null;
    const authorities = [...kept.values()].filter((entry) => !entry.stale).map((entry) => entry.authority);
    if (session === null || authorities.length === 0) return;
    const everyMs = session.heartbeatEveryMs;
    const current = session;
    const answers = await Promise.all(batches(authorities).map((batch) => renew(current, batch)));
    const problem = answers.find((answer) => answer !== null) ?? null;
    if (problem !== null) emit({ kind: 'trouble', message: problem });
    else if (troubled) emit({ kind: 'recovered' });
    troubled = problem !== null;
    schedule(problem === null ? everyMs : Math.max(retryMsMin, everyMs / 4));
  }

  /** Null when the answer is known, else the problem. */
  async function renew(current: KeeperSession, attempts: MessageAuthority[]): Promise<string | null> {
    const { runner, session: id } = current;
    const envelope = { version: protocolVersion, messageId: options.newMessageId() } as const;
    const sentAt = clock.monotonic();
    const giveUp = new AbortController();
    // A hanging request must not hold up the next try.
    const cancelGiveUp = clock.setTimer(() => giveUp.abort(), current.heartbeatEveryMs);
    try {
      const signal = AbortSignal.any([giveUp.signal, closing.signal]);
      const reply = await options.send({ type: 'heartbeat', ...envelope, runner, session: id, attempts }, signal);
      if (reply.type !== 'directives')
        return reply.type === 'rejected' ? `renewal rejected: ${reply.code}` : 'no answer';
      for (const { attempt, directive } of reply.directives) obey(attempt, directive, sentAt);
      return null;
    } catch (cause) {
      return cause instanceof Error ? cause.message : String(cause);
    } finally {
      cancelGiveUp();
    }
  }
  function obey(attempt: string, directive: Directive, sentAt: number): void {
    const entry = kept.get(attempt);
    if (entry === undefined) return;
    if (directive.kind === 'stale') {
      entry.stale = true;
      kill(entry);
    } else extend(attempt, entry, localDeadline(sentAt, directive.leaseMs));
    emit({ kind: 'directive', attempt, directive, deadline: entry.deadline });
  }

  return {
    open(opened) {
      session = opened;
      if (kept.size > 0 && cancelBeat === null) schedule(opened.heartbeatEveryMs);
    },
    watch(authority, deadline) {
      const { attempt } = authority;
      const entry = kept.get(attempt) ?? {
        authority,
        groups: new Set(),
        deadline,
        cancelTimer: () => undefined,
        stale: false,
      };
      kept.set(attempt, entry);
      extend(attempt, entry, deadline);
      if (cancelBeat === null && session !== null) schedule(session.heartbeatEveryMs);
    },
    addGroup(attempt, group) {
      const entry = kept.get(attempt);
      if (entry === undefined || entry.stale) options.kill(group);
      else entry.groups.add(group);
    },
    removeGroup(attempt, group) {
      kept.get(attempt)?.groups.delete(group);
    },
    unwatch(attempt) {
      const entry = kept.get(attempt);
      if (entry !== undefined) forget(attempt, entry);
    },
    close() {
      closing.abort();
      cancelBeat?.();
      for (const [attempt, entry] of [...kept]) forget(attempt, entry);
      return Promise.resolve();
    },
  };
}

function batches<T>(items: readonly T[]): T[][] {
  const result: T[][] = [];
  for (let at = 0; at < items.length; at += batchMax) result.push(items.slice(at, at + batchMax));
  return result;
}
