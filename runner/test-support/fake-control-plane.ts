/**
 * A control plane that says what a test tells it to. It keeps replies by message id like the real one,
 * records every message, and lets a test wait for the one it needs.
 */
import { createHash, randomUUID } from 'node:crypto';
import type {
  Directive,
  MessageAuthority,
  Offer,
  RunnerReply,
  RunnerRequest,
  RunnerRequestOf,
  WireJobSpec,
} from '../protocol/index.ts';

export interface FakeControlPlaneOptions {
  readonly leaseTtlMs: number;
  readonly heartbeatEveryMs: number;
}

type Reaction = (request: RunnerRequest) => RunnerReply | undefined | Promise<RunnerReply | undefined>;

export interface FakeControlPlane {
  handle(request: RunnerRequest): Promise<RunnerReply>;
  /** Every message as it arrived, repeats included. */
  readonly received: RunnerRequest[];
  /** Puts an offer up for the session that said hello last. */
  offer(spec: WireJobSpec, more?: Partial<Offer>): MessageAuthority;
  /** Asked before the default; `undefined` means the default. The newest is asked first. */
  react(reaction: Reaction): void;
  /** The standing answer to heartbeats and phase messages of an attempt. */
  direct(attempt: string, directive: Directive): void;
  /** Resolves with the first matching message, one that has already come included. */
  expectMessage<T extends RunnerRequest['type']>(
    type: T,
    matches?: (request: RunnerRequestOf<T>) => boolean,
  ): Promise<RunnerRequestOf<T>>;
  of<T extends RunnerRequest['type']>(type: T): RunnerRequestOf<T>[];
  onOffer(ring: () => void): void;
  ring(): void;
  /** Takes back what no poll has fetched yet. */
  takeOffers(): Offer[];
}

export function createFakeControlPlane(options: FakeControlPlaneOptions): FakeControlPlane {
  const received: RunnerRequest[] = [];
  const receipts = new Map<string, RunnerReply>();
  const offers: Offer[] = [];
  const directives = new Map<string, Directive>();
  const reactions: Reaction[] = [];
  const waiting = new Set<(request: RunnerRequest) => void>();
  let ring = () => {};
  let session = { runner: '', session: '' };
  let offered = 0;

  const directiveOf = (attempt: string): Directive =>
    directives.get(attempt) ?? { kind: 'continue', leaseMs: options.leaseTtlMs };
  const directivesOf = (attempts: readonly MessageAuthority[]): RunnerReply => ({
    type: 'directives',
    directives: attempts.map(({ attempt }) => ({ attempt, directive: directiveOf(attempt) })),
  });

  /** An offer stands, and is repeated, until it is answered. */
  function withdraw(attempt: string): void {
    const at = offers.findIndex((offer) => offer.authority.attempt === attempt);
    if (at !== -1) offers.splice(at, 1);
  }

  function standard(request: RunnerRequest): RunnerReply {
    switch (request.type) {
      case 'hello':
        session = { runner: request.runner, session: request.session };
        return { type: 'welcome', ...options };
      case 'poll':
        return { type: 'offers', offers: offers.slice(0, request.max) };
      case 'heartbeat':
        return directivesOf(request.attempts);
      case 'resync':
        return directivesOf(request.attempts.map((entry) => entry.authority));
      case 'reject':
        withdraw(request.authority.attempt);
        return { type: 'ok' };
      case 'accept':
        withdraw(request.authority.attempt);
        return { type: 'directive', directive: directiveOf(request.authority.attempt) };
      case 'start':
      case 'finish':
        return { type: 'directive', directive: directiveOf(request.authority.attempt) };
      default:
        return { type: 'ok' };
    }
  }

  return {
    received,
    async handle(request) {
      received.push(request);
      for (const tell of [...waiting]) tell(request);
      const receipt = receipts.get(request.messageId);
      if (receipt !== undefined) return receipt;
      for (const reaction of [...reactions].reverse()) {
        const reply = await reaction(request);
        if (reply !== undefined) return reply;
      }
      const reply = standard(request);
      if (reply.type !== 'rejected') receipts.set(request.messageId, reply);
      return reply;
    },
    offer(spec, more = {}) {
      offered += 1;
      // Processes are found by their attempt's id: it must be unique on the machine, not only in this test.
      const names = { run: 'run-1', job: `job-${offered}`, attempt: randomUUID(), lease: `lease-${offered}` };
      const authority = { ...names, epoch: 1, ...session, specDigest: digestOf(spec) };
      const times = { offerMs: 10_000, leaseTtlMs: options.leaseTtlMs };
      const offer: Offer = {
        authority,
        jobName: 'job',
        runName: 'run',
        attemptNumber: 1,
        ...times,
        spec: { ...spec },
        inputs: [],
        ...more,
      };
      offers.push(offer);
      ring();
      return offer.authority;
    },
    ring: () => ring(),
    takeOffers: () => offers.splice(0),
    react: (reaction) => void reactions.push(reaction),
    direct: (attempt, directive) => void directives.set(attempt, directive),
    expectMessage(type, matches = () => true) {
      const fits = (request: RunnerRequest): request is RunnerRequestOf<typeof type> =>
        isOf(request, type) && matches(request);
      const past = received.find(fits);
      if (past !== undefined) return Promise.resolve(past);
      return new Promise((resolve) => {
        const tell = (request: RunnerRequest) => {
          if (!fits(request)) return;
          waiting.delete(tell);
          resolve(request);
        };
        waiting.add(tell);
      });
    },
    of: (type) => received.filter((request) => isOf(request, type)),
    onOffer(next) {
      ring = next;
    },
  };
}

function isOf<T extends RunnerRequest['type']>(request: RunnerRequest, type: T): request is RunnerRequestOf<T> {
  return request.type === type;
}

/** Sorted keys, no white space, as the planner writes it. */
export function digestOf(value: unknown): string {
  return `sha256:${createHash('sha256').update(sorted(value)).digest('hex')}`;
}

function sorted(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${sorted(entry)}`).join(',')}}`;
}
