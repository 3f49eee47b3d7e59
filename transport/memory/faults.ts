/**
 * A transport that misbehaves on purpose: messages and answers are lost, doubled, late or overtaken
 * (000 §342). The faults are chosen by the caller, or drawn from a seeded source.
 */
import type { RunnerReply, RunnerRequest } from '../../runner/protocol/index.ts';
import type { RunnerTransport } from '../contract.ts';
import { TransportError } from '../contract.ts';

export type MessageFault = 'none' | 'dropRequest' | 'dropReply' | 'duplicate' | 'delay' | 'reorder';
/** `index` counts the requests of this transport from 0. */
export type ChooseFault = (request: RunnerRequest, index: number) => MessageFault;

export interface FaultClock {
  setTimer(run: () => void, ms: number): () => void;
}

export interface FaultOptions {
  readonly choose: ChooseFault;
  readonly clock: FaultClock;
  /** How long a delayed message is under way, and the longest a reordered one waits to be overtaken. */
  readonly delayMs: number;
}

export type FaultRates = Partial<Readonly<Record<Exclude<MessageFault, 'none'>, number>>>;

/** Each rate is a probability; together they must not exceed 1. */
export function seededFaults(random: () => number, rates: FaultRates): ChooseFault {
  const order = ['dropRequest', 'dropReply', 'duplicate', 'delay', 'reorder'] as const;
  return () => {
    let left = random();
    for (const fault of order) {
      left -= rates[fault] ?? 0;
      if (left < 0) return fault;
    }
    return 'none';
  };
}

export function withFaults(inner: RunnerTransport, options: FaultOptions): RunnerTransport {
  let index = 0;
  let overtaken: (() => void)[] = [];
  const pause = () => new Promise<void>((resolve) => options.clock.setTimer(resolve, options.delayMs));
  const untilOvertaken = () =>
    new Promise<void>((resolve) => {
      overtaken.push(resolve);
      options.clock.setTimer(resolve, options.delayMs);
    });

  async function send(request: RunnerRequest, signal: AbortSignal | undefined): Promise<RunnerReply> {
    const fault = options.choose(request, index);
    index += 1;
    switch (fault) {
      case 'none':
        return await inner.request(request, signal);
      case 'dropRequest':
        throw new TransportError('fault: the request was lost');
      case 'dropReply':
        await inner.request(request, signal);
        throw new TransportError('fault: the answer was lost');
      case 'duplicate':
        await inner.request(request, signal);
        return await inner.request(request, signal);
      case 'delay':
        await pause();
        return await inner.request(request, signal);
      case 'reorder':
        await untilOvertaken();
        return await inner.request(request, signal);
      default:
        return fault satisfies never;
    }
  }

  return {
    async request(message, signal) {
      const waiting = overtaken;
      overtaken = [];
      try {
        return await send(message, signal);
      } finally {
        for (const release of waiting) release();
      }
    },
    ...(inner.onDoorbell === undefined ? {} : { onDoorbell: inner.onDoorbell.bind(inner) }),
    close: () => inner.close(),
  };
}
