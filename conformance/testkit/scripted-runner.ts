/**
 * A runner that does what the test says, message by message, over the real protocol. Like a real agent it asks again,
 * with the same message id, when the control plane cannot be reached.
 */
import type { Ids, RunnerGateway } from '../../actors/index.ts';
import type { Offer, OutputRefReport, RunnerReply, RunnerRequest } from '../../runner/protocol/index.ts';
import { protocolVersion } from '../../runner/protocol/index.ts';
import { insist } from './insist.ts';

/** A message without its envelope. */
type Unsent<T> = T extends unknown ? Omit<T, 'version' | 'messageId'> : never;
export type RunnerMessage = Unsent<RunnerRequest>;

export interface ScriptedRunner {
  readonly runner: string;
  readonly session: string;
  /** `messageId` stands for a repeat of an earlier message. */
  send(message: RunnerMessage, messageId?: string): Promise<RunnerReply>;
  hello(): Promise<RunnerReply>;
  /** Offers of one poll. */
  poll(max?: number): Promise<readonly Offer[]>;
  /** Polls until the job of this name is offered. */
  take(jobName: string): Promise<Offer>;
  accept(offer: Offer, messageId?: string): Promise<RunnerReply>;
  decline(offer: Offer, messageId?: string): Promise<RunnerReply>;
  start(offer: Offer, messageId?: string): Promise<RunnerReply>;
  finish(offer: Offer, messageId?: string): Promise<RunnerReply>;
  complete(offer: Offer, options?: Completion): Promise<RunnerReply>;
  fail(offer: Offer, options?: Failure): Promise<RunnerReply>;
  /** The workload was stopped as asked. */
  stopped(offer: Offer, messageId?: string): Promise<RunnerReply>;
  /** Renews, and gives what each attempt is to do. */
  beat(...offers: readonly Offer[]): Promise<readonly string[]>;
  resync(...offers: readonly Offer[]): Promise<readonly string[]>;
  drain(): Promise<RunnerReply>;
  bye(): Promise<RunnerReply>;
  /** The whole way to success. */
  succeed(offer: Offer, options?: Completion): Promise<RunnerReply>;
  /** Accepts, starts, and fails. */
  failRunning(offer: Offer, options?: Failure): Promise<RunnerReply>;
}

export interface Completion {
  readonly messageId?: string;
  readonly outputs?: readonly OutputRefReport[];
}
export interface Failure {
  readonly messageId?: string;
  readonly failureClass?: string;
  readonly transient?: boolean;
}

export interface ScriptedRunnerOptions {
  readonly gateway: RunnerGateway;
  readonly ids: Ids;
  readonly runner: string;
  readonly session: string;
  readonly capabilities?: readonly string[];
  readonly slots?: number;
  readonly host?: string | null;
}

/** Polls before a job counts as not offered; the control plane may be out of reach for one of them. */
const pollsMax = 12;
const success = { code: 0, signal: null } as const;

export function createScriptedRunner(options: ScriptedRunnerOptions): ScriptedRunner {
  const { gateway, ids, runner, session, capabilities = [], slots = 100, host = null } = options;
  const send = (message: RunnerMessage, messageId = ids.uuid()): Promise<RunnerReply> =>
    insist(() => gateway.request({ version: protocolVersion, messageId, ...message }));
  const poll = async (max = slots): Promise<readonly Offer[]> => {
    const reply = await send({ type: 'poll', runner, session, max });
    return reply.type === 'offers' ? reply.offers : [];
  };
  const directives = async (reply: RunnerReply): Promise<readonly string[]> =>
    reply.type === 'directives' ? reply.directives.map(({ directive }) => directive.kind) : [reply.type];
  const self: ScriptedRunner = {
    runner,
    session,
    send,
    hello: () => send({ type: 'hello', runner, session, name: runner, host, capabilities: [...capabilities], slots }),
    poll,
    async take(jobName) {
      for (let tries = 0; tries < pollsMax; tries += 1) {
        const offer = (await poll()).find((one) => one.jobName === jobName);
        if (offer !== undefined) return offer;
      }
      throw new Error(`${runner} is not offered ${jobName}`);
    },
    accept: ({ authority }, messageId) => send({ type: 'accept', authority }, messageId),
    decline: ({ authority }, messageId) =>
      send({ type: 'reject', authority, reason: 'Busy', message: null }, messageId),
    start: ({ authority }, messageId) => send({ type: 'start', authority }, messageId),
    finish: ({ authority }, messageId) => send({ type: 'finish', authority, exit: success }, messageId),
    complete: ({ authority }, { messageId, outputs = [] } = {}) =>
      send({ type: 'complete', authority, exit: success, outputs: [...outputs], reports: [], log: null }, messageId),
    fail: ({ authority }, { messageId, failureClass = 'UserCommand', transient = true } = {}) =>
      send(
        {
          type: 'fail',
          authority,
          failureClass,
          transient,
          exit: { code: 1, signal: null },
          detail: { step: null, stepIndex: null, message: null },
          reports: [],
          log: null,
        },
        messageId,
      ),
    stopped: ({ authority }, messageId) =>
      send({ type: 'terminated', authority, exit: null, reports: [], log: null }, messageId),
    async beat(...offers) {
      const attempts = offers.map(({ authority }) => authority);
      return directives(await send({ type: 'heartbeat', runner, session, attempts }));
    },
    async resync(...offers) {
      const attempts = offers.map(({ authority }) => ({ authority, phase: 'running' as const }));
      return directives(await send({ type: 'resync', runner, session, attempts }));
    },
    drain: () => send({ type: 'drain', runner, session }),
    bye: () => send({ type: 'bye', runner, session }),
    async succeed(offer, completion) {
      await self.accept(offer);
      await self.start(offer);
      await self.finish(offer);
      return self.complete(offer, completion);
    },
    async failRunning(offer, failure) {
      await self.accept(offer);
      await self.start(offer);
      return self.fail(offer, failure);
    },
  };
  return self;
}
