/**
 * The in-process transport between threads: text over a MessagePort. The control plane's thread serves
 * a port; the agent's thread connects to it, and its lease keeper opens a port of its own.
 */
import type { MessagePort } from 'node:worker_threads';
import { MessageChannel } from 'node:worker_threads';
import { decodeReply, decodeRequest, encodeReply, encodeRequest } from '../../runner/protocol/index.ts';
import type { RunnerTransport, ThreadEndpoint, Unsubscribe } from '../contract.ts';
import { TransportError } from '../contract.ts';
import type { HandleRequest } from './memory-transport.ts';

type ToServer =
  | { readonly kind: 'request'; readonly call: number; readonly text: string }
  | { readonly kind: 'open'; readonly port: MessagePort };
type ToClient =
  | { readonly kind: 'reply'; readonly call: number; readonly text: string }
  | { readonly kind: 'refused'; readonly call: number; readonly problem: string }
  | { readonly kind: 'doorbell' };

export interface PortServer {
  ring(): void;
  close(): void;
}

export function servePort(port: MessagePort, handle: HandleRequest): PortServer {
  const children: PortServer[] = [];
  const post = (message: ToClient) => port.postMessage(message);
  const serve = async (call: number, text: string) => {
    const request = decodeRequest(text);
    if (!request.ok) return post({ kind: 'refused', call, problem: request.problem });
    try {
      const reply = encodeReply(await handle(request.message));
      post(reply.ok ? { kind: 'reply', call, text: reply.message } : { kind: 'refused', call, problem: reply.problem });
    } catch (cause) {
      post({
        kind: 'refused',
        call,
        problem: cause instanceof Error ? cause.message : 'the control plane did not answer',
      });
    }
  };
  port.on('message', (message: ToServer) => {
    if (message.kind === 'open') children.push(servePort(message.port, handle));
    else void serve(message.call, message.text);
  });
  return {
    ring: () => post({ kind: 'doorbell' }),
    close() {
      for (const child of children) child.close();
      port.close();
    },
  };
}

export function connectPort(port: MessagePort): RunnerTransport {
  const calls = new Map<number, (message: ToClient) => void>();
  const listeners = new Set<() => void>();
  let lastCall = 0;
  port.on('message', (message: ToClient) => {
    if (message.kind === 'doorbell') for (const listener of [...listeners]) listener();
    else calls.get(message.call)?.(message);
  });
  const post = (message: ToServer, transfer: readonly MessagePort[] = []) => port.postMessage(message, [...transfer]);
  return {
    request(message, signal) {
      const encoded = encodeRequest(message);
      if (!encoded.ok) return Promise.reject(new TransportError(`malformed request: ${encoded.problem}`));
      lastCall += 1;
      const call = lastCall;
      return new Promise((resolve, reject) => {
        const settle = (answer: ToClient | null) => {
          calls.delete(call);
          signal?.removeEventListener('abort', abort);
          const decoded = answer?.kind === 'reply' ? decodeReply(answer.text) : null;
          if (decoded?.ok) return resolve(decoded.message);
          const refusal =
            answer?.kind === 'refused' ? answer.problem : 'the request was given up before its answer came';
          reject(new TransportError(decoded?.problem ?? refusal));
        };
        const abort = () => settle(null);
        if (signal?.aborted) return settle(null);
        signal?.addEventListener('abort', abort, { once: true });
        calls.set(call, settle);
        post({ kind: 'request', call, text: encoded.message });
      });
    },
    onDoorbell(listener): Unsubscribe {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    threadEndpoint(): ThreadEndpoint {
      const channel = new MessageChannel();
      post({ kind: 'open', port: channel.port1 }, [channel.port1]);
      return { module: import.meta.url, data: { port: channel.port2 }, transfer: [channel.port2] };
    },
    close: () => port.close(),
  };
}

/**
 * Called in the keeper's thread with the data of `threadEndpoint`, which names this module.
 * @public
 */
export function connect(data: { readonly port: MessagePort }): RunnerTransport {
  return connectPort(data.port);
}
