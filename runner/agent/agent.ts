/**
 * The agent: one session with the control plane, a number of slots, and the attempts in them.
 *
 *  A1 A session id is fresh with every session and is never written down: a restarted agent is a new one
 *     and inherits nothing, nor does one whose session the control plane has ended (000 §263, §268-271).
 *  A2 Nothing is launched, and no phase entered, before the control plane has said so.
 *  A3 Work whose authority is lost is killed and not reported.
 *  A4 `closed` resolves when no process, timer or thread of the agent is left.
 */
import { mkdir } from 'node:fs/promises';
import { pause } from '../clock.ts';
import type { KeeperEvent } from '../lease/keeper.ts';
import { startKeeper } from '../lease/start-keeper.ts';
import { createAttemptRecords } from '../process/attempt-records.ts';
import { createExitGuard } from '../process/exit-guard.ts';
import type { RunnerRequest } from '../protocol/index.ts';
import { protocolVersion } from '../protocol/index.ts';
import { createActiveAttempts } from './active-attempts.ts';
import type { AgentOptions } from './agent-options.ts';
import { defaultTuning } from './agent-options.ts';
import type { AttemptServices } from './attempt-context.ts';
import { createConnection } from './connection.ts';
import { createRoomWatch } from './disk-room.ts';
import type { Polled, PollLoop } from './poll-loop.ts';
import { startPollLoop } from './poll-loop.ts';
import { createSeenAttempts } from './seen-attempts.ts';
import { runSessions } from './session-loop.ts';
import { takeOffer } from './take-offer.ts';

export interface Agent {
  /** Sweeps what a dead agent left, opens a session, and takes offers. Rejects when the session is refused. */
  start(): Promise<void>;
  /** Finishes what is running, takes nothing new, says goodbye. */
  drain(): Promise<void>;
  /** Ends running work as a shutdown of the runner; what has not been reported after `graceMs` is abandoned. */
  stop(options: { readonly graceMs: number }): Promise<void>;
  readonly closed: Promise<void>;
}

/** Attempts named in one resync, as the protocol bounds it. */
const resyncMax = 256;
/** How long a goodbye may take; the control plane does not depend on it. */
const goodbyeMs = 2_000;

export function createAgent(options: AgentOptions): Agent {
  const tuning = { ...defaultTuning, ...options.tuning };
  const { clock, ids, onEvent, runnerId } = options;
  let session = ids();
  const own = () => ({ version: protocolVersion, messageId: ids(), runner: runnerId, session }) as const;
  const stopped = new AbortController();
  const pollStop = new AbortController();
  const closed = Promise.withResolvers<void>();
  let draining = false;
  let started = false;
  let closing: Promise<void> | null = null;
  let polls: PollLoop | null = null;
  let sessions: Promise<string | null> | null = null;

  const exitGuard = createExitGuard();
  const connection = createConnection({
    transport: options.transport,
    clock,
    random: options.random,
    requestTimeoutMs: tuning.requestTimeoutMs,
    onTrouble: (message) => onEvent({ kind: 'transportTroubled', message }),
    onRecovered: () => {
      onEvent({ kind: 'transportRecovered' });
      void resyncAll();
    },
  });
  const keeper = startKeeper({
    place: options.keeper ?? 'thread',
    transport: options.transport,
    clock,
    newMessageId: ids,
    emit: onKeeperEvent,
  });
  const active = createActiveAttempts({ watch: keeper.watch, onRemoved: () => polls?.wake() });
  const accepted = createSeenAttempts();
  const hasRoom = createRoomWatch(options, tuning);
  const records = createAttemptRecords(options.stateDir);
  const services: AttemptServices = { options, tuning, connection, keeper, records, exitGuard };

  function onKeeperEvent(event: KeeperEvent): void {
    switch (event.kind) {
      case 'trouble':
        onEvent({ kind: 'transportTroubled', message: event.message });
        break;
      case 'recovered':
        onEvent({ kind: 'transportRecovered' });
        void resyncAll();
        break;
      case 'failed':
        active.onKeeper(event);
        onEvent({ kind: 'keeperFailed', message: event.message });
        // Nothing would end work whose lease has run out: better no runner than that.
        void close(true);
        break;
      default:
        active.onKeeper(event);
    }
  }

  /** After a silence: says where every attempt stands and learns which ones still count (000 §188). */
  async function resyncAll(): Promise<void> {
    const attempts = [...active.all.values()]
      .map(({ authority, control }) => ({ authority, phase: control.phase() }))
      .filter(({ phase }) => phase !== 'offered' && phase !== 'finished');
    for (let at = 0; at < attempts.length; at += resyncMax) {
      const batch = attempts.slice(at, at + resyncMax);
      const answer = await connection.tryOnce({ type: 'resync', ...own(), attempts: batch }, stopped.signal);
      if (answer?.reply.type === 'directives') active.onDirectives(answer.reply, answer);
    }
  }

  async function poll(max: number): Promise<Polled> {
    if (!(await hasRoom())) return { kind: 'unknown' };
    const answer = await connection.tryOnce({ type: 'poll', ...own(), max }, pollStop.signal);
    if (answer?.reply.type === 'offers') {
      const { offers, more = false } = answer.reply;
      return { kind: 'offers', offers, more };
    }
    if (answer?.reply.type !== 'rejected' || answer.reply.code === 'Overloaded') return { kind: 'unknown' };
    return { kind: 'refused', code: answer.reply.code };
  }

  function take(offer: Parameters<typeof takeOffer>[1]): void {
    const { runner, session: theirs } = offer.authority;
    // Not addressed to this session: answering for another one would be a lie.
    if (runner !== runnerId || theirs !== session) return;
    const desk = { services, active, accepted, draining: () => draining, stopped: stopped.signal };
    void takeOffer(desk, offer).catch(() => undefined);
  }

  async function start(): Promise<void> {
    if (started) throw new Error('an agent is started once');
    started = true;
    await mkdir(options.stateDir, { recursive: true, mode: 0o700 });
    for (const { attempt, groupsKilled, left } of await records.sweep()) {
      onEvent({ kind: 'leftoversSwept', attempt, groupsKilled });
      if (left !== null) onEvent({ kind: 'workspaceLeft', attempt, message: left });
    }
    const refusal = await open();
    if (refusal !== null) {
      await close(false);
      throw new Error(`no session: ${refusal}`);
    }
    sessions = runSessions({
      clock,
      random: options.random,
      stop: pollStop.signal,
      serve,
      settle,
      open: openAnew,
      retryMs: tuning.sessionRetryMs,
      retryMsMax: tuning.sessionRetryMsMax,
    });
    void sessions.then((code) => (code === null ? undefined : leave()));
  }

  /** Null when welcome, else why not. */
  async function open(): Promise<string | null> {
    const { name, capabilities, slots } = options;
    const hello: RunnerRequest = { type: 'hello', ...own(), name, capabilities: [...capabilities], slots };
    const reply = (await connection.ask(hello, pollStop.signal))?.reply;
    if (reply?.type !== 'welcome') return reply?.type === 'rejected' ? reply.code : 'no welcome';
    keeper.open({ runner: runnerId, session, heartbeatEveryMs: reply.heartbeatEveryMs });
    onEvent({ kind: 'sessionOpened', session });
    return null;
  }

  function openAnew(): Promise<string | null> {
    session = ids();
    return open();
  }

  async function serve(): Promise<string | null> {
    polls = startPollLoop({
      transport: options.transport,
      clock,
      everyMs: tuning.pollEveryMs,
      stop: pollStop.signal,
      slotsFree: () => (draining ? 0 : options.slots - active.all.size),
      poll,
      take,
    });
    const code = await polls.ended;
    if (code !== null) onEvent({ kind: 'sessionEnded', code });
    return code;
  }

  /** What the ended session leaves is told what it is to do: as a rule, to stop. */
  async function settle(): Promise<void> {
    await resyncAll();
    await active.idle();
  }

  async function leave(): Promise<void> {
    draining = true;
    await active.idle();
    await close(false);
  }

  function close(sayGoodbye: boolean): Promise<void> {
    closing ??= (async () => {
      draining = true;
      pollStop.abort();
      await sessions;
      await active.idle();
      if (sayGoodbye) await within(goodbyeMs, (signal) => connection.ask({ type: 'bye', ...own() }, signal));
      stopped.abort();
      await keeper.close();
      exitGuard.close();
      closed.resolve();
    })();
    return closing;
  }

  async function within(ms: number, run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const late = new AbortController();
    const cancel = clock.setTimer(() => late.abort(), ms);
    await run(AbortSignal.any([late.signal, stopped.signal]));
    cancel();
  }

  return {
    start,
    async drain() {
      if (!draining && sessions !== null) {
        draining = true;
        await within(goodbyeMs, (signal) => connection.ask({ type: 'drain', ...own() }, signal));
      }
      await close(sessions !== null);
    },
    async stop({ graceMs }) {
      draining = true;
      for (const { control } of active.all.values()) control.halt({ kind: 'shutdown' });
      const finished = new AbortController();
      void pause(clock, graceMs, finished.signal).then(() => {
        if (finished.signal.aborted) return;
        for (const { control } of active.all.values()) control.halt({ kind: 'lost', why: 'the runner was stopped' });
        stopped.abort();
      });
      await close(sessions !== null);
      finished.abort();
    },
    closed: closed.promise,
  };
}
