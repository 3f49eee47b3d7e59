/** The keeper's own thread: its event loop runs nothing but timers and renewals. */
import { randomUUID } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import { parentPort, workerData } from 'node:worker_threads';
import type { ConnectThread, RunnerTransport } from '../../transport/index.ts';
import { systemClock } from '../clock.ts';
import { signalGroup } from '../process/process-table.ts';
import type { RunnerReply, RunnerRequest } from '../protocol/index.ts';
import { createLeaseKeeper } from './keeper.ts';
import type { FromKeeper, KeeperThreadData, ToKeeper } from './thread-messages.ts';

interface Sender {
  send(request: RunnerRequest, signal: AbortSignal): Promise<RunnerReply>;
  answered(message: Extract<ToKeeper, { kind: 'relayed' }>): void;
  close(): void;
}

function relaySender(port: MessagePort): Sender {
  const calls = new Map<number, (message: { readonly reply: RunnerReply | null; readonly problem: string }) => void>();
  let lastCall = 0;
  return {
    send(request, signal) {
      lastCall += 1;
      const call = lastCall;
      return new Promise((resolve, reject) => {
        const settle = (answer: { readonly reply: RunnerReply | null; readonly problem: string }) => {
          calls.delete(call);
          if (answer.reply === null) reject(new Error(answer.problem));
          else resolve(answer.reply);
        };
        calls.set(call, settle);
        signal.addEventListener('abort', () => settle({ reply: null, problem: 'no answer in time' }), { once: true });
        port.postMessage({ kind: 'relay', call, request } satisfies FromKeeper);
      });
    },
    answered: (message) => calls.get(message.call)?.(message),
    close: () => undefined,
  };
}

function directSender(module: string, data: unknown): Sender {
  const connecting: Promise<RunnerTransport> = import(module).then((loaded: { readonly connect: ConnectThread }) =>
    loaded.connect(data),
  );
  connecting.catch(() => undefined);
  return {
    send: async (request, signal) => await (await connecting).request(request, signal),
    answered: () => undefined,
    close: () => void connecting.then((transport) => transport.close()).catch(() => undefined),
  };
}

function run(port: MessagePort, { endpoint }: KeeperThreadData): void {
  const sender = endpoint === null ? relaySender(port) : directSender(endpoint.module, endpoint.data);
  const keeper = createLeaseKeeper({
    clock: systemClock,
    newMessageId: randomUUID,
    send: sender.send,
    kill: (group) => signalGroup(group, 'SIGKILL'),
    emit: (event) => port.postMessage({ kind: 'event', event } satisfies FromKeeper),
  });
  port.on('message', (message: ToKeeper) => {
    switch (message.kind) {
      case 'open':
        return keeper.open(message.session);
      case 'watch':
        return keeper.watch(message.authority, message.deadline);
      case 'addGroup':
        return keeper.addGroup(message.attempt, message.group);
      case 'removeGroup':
        return keeper.removeGroup(message.attempt, message.group);
      case 'unwatch':
        return keeper.unwatch(message.attempt);
      case 'relayed':
        return sender.answered(message);
      case 'close':
        void keeper.close();
        sender.close();
        return port.close();
      default:
        return message satisfies never;
    }
  });
}

if (parentPort !== null) run(parentPort, workerData);
