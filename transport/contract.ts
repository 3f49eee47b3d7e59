/**
 * How a runner talks to the control plane (000 §289). A transport moves messages and nothing else: it
 * holds no authority, keeps no receipts and decides nothing.
 *
 *  T1 One request has one reply. When the reply is not known (lost, timed out, refused by the wire) the
 *     call throws `TransportError`: the request may or may not have been executed, and the caller sends
 *     the same message id again.
 *  T2 Both ways a message is encoded and size-checked by the protocol's codec.
 *  T3 A doorbell is a hint that polling now is worthwhile. It may be lost, early, late or repeated.
 */
import type { MessagePort } from 'node:worker_threads';
import type { RunnerReply, RunnerRequest } from '../runner/protocol/index.ts';

export type Unsubscribe = () => void;

export interface RunnerTransport {
  request(message: RunnerRequest, signal?: AbortSignal): Promise<RunnerReply>;
  onDoorbell?(listener: () => void): Unsubscribe;
  /**
   * A second way to the same control plane, usable from another thread. Lease renewals go this way so
   * that a blocked event loop cannot hold them up. Without it they are relayed through this transport.
   */
  threadEndpoint?(): ThreadEndpoint;
  close(): void;
}

/** `module` is a file URL; it exports `connect: ConnectThread`, which is given `data` in the other thread. */
export interface ThreadEndpoint {
  readonly module: string;
  readonly data: unknown;
  readonly transfer: readonly MessagePort[];
}
export type ConnectThread = (data: unknown) => RunnerTransport;

export class TransportError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TransportError';
  }
}
