/**
 * The in-process transport. Messages are encoded to text and decoded again on both ways (T2), so the
 * two sides share no object and say nothing that HTTP or NATS could not carry.
 */
import type { Decoded, RunnerReply, RunnerRequest } from '../../runner/protocol/index.ts';
import { decodeReply, decodeRequest, encodeReply, encodeRequest } from '../../runner/protocol/index.ts';
import type { RunnerTransport, Unsubscribe } from '../contract.ts';
import { TransportError } from '../contract.ts';

export type HandleRequest = (request: RunnerRequest) => Promise<RunnerReply>;

export interface MemoryLink {
  readonly transport: RunnerTransport;
  /** Rings every listener of this link's transport. */
  ring(): void;
}

export function createMemoryLink(handle: HandleRequest): MemoryLink {
  const listeners = new Set<() => void>();
  const closing = new AbortController();
  const transport: RunnerTransport = {
    async request(message, signal) {
      const text = orThrow(encodeRequest(message), 'request');
      const work = answer(handle, text);
      // The handler goes on after an abort, as a remote one would: only the answer is lost.
      work.catch(() => undefined);
      return await unlessAborted(
        work,
        signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]),
      );
    },
    onDoorbell(listener): Unsubscribe {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      listeners.clear();
      closing.abort();
    },
  };
  return {
    transport,
    ring() {
      for (const listener of [...listeners]) listener();
    },
  };
}

async function answer(handle: HandleRequest, text: string): Promise<RunnerReply> {
  const request = orThrow(decodeRequest(text), 'request');
  let reply: RunnerReply;
  try {
    reply = await handle(request);
  } catch (cause) {
    throw new TransportError('the control plane did not answer', { cause });
  }
  return orThrow(decodeReply(orThrow(encodeReply(reply), 'reply')), 'reply');
}

function orThrow<T>(decoded: Decoded<T>, what: string): T {
  if (decoded.ok) return decoded.message;
  throw new TransportError(`malformed ${what}: ${decoded.problem}`);
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new TransportError('the request was given up before its answer came'));
    if (signal.aborted) {
      abort();
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
