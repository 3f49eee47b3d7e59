/**
 * Where the keeper lives. `thread` is the rule; `loop` keeps it in the caller's event loop, for hosts
 * with a clock of their own (simulation), where nothing blocks.
 */
import { Worker } from 'node:worker_threads';
import type { RunnerTransport } from '../../transport/index.ts';
import type { RunnerClock } from '../clock.ts';
import { signalGroup } from '../process/process-table.ts';
import type { RunnerRequest } from '../protocol/index.ts';
import type { KeeperEvent, LeaseKeeper } from './keeper.ts';
import { createLeaseKeeper } from './keeper.ts';
import type { FromKeeper, KeeperThreadData, ToKeeper } from './thread-messages.ts';

export type KeeperPlace = 'thread' | 'loop';

export interface StartKeeperOptions {
  readonly place: KeeperPlace;
  readonly transport: RunnerTransport;
  readonly clock: RunnerClock;
  readonly newMessageId: () => string;
  readonly emit: (event: KeeperEvent) => void;
}

export function startKeeper(options: StartKeeperOptions): LeaseKeeper {
  switch (options.place) {
    case 'thread':
      return startThread(options);
    case 'loop':
      return createLeaseKeeper({
        clock: options.clock,
        newMessageId: options.newMessageId,
        send: (request, signal) => options.transport.request(request, signal),
        kill: (group) => signalGroup(group, 'SIGKILL'),
        emit: options.emit,
      });
    default:
      return options.place satisfies never;
  }
}

/** The same file as source and as built. */
const threadFile = import.meta.url.endsWith('.ts')
  ? new URL('./keeper-thread.ts', import.meta.url)
  : new URL('./keeper-thread.js', import.meta.url);

function startThread({ transport, emit }: StartKeeperOptions): LeaseKeeper {
  const endpoint = transport.threadEndpoint?.() ?? null;
  const data: KeeperThreadData = {
    endpoint: endpoint === null ? null : { module: endpoint.module, data: endpoint.data },
  };
  const worker = new Worker(threadFile, {
    workerData: data,
    transferList: endpoint === null ? [] : [...endpoint.transfer],
    // The workload's environment and the host's flags (a debugger, a loader) are no business of this thread.
    execArgv: [],
    name: 'forgeyard-lease-keeper',
  });
  let closing = false;
  let problem = 'its thread has ended';
  const exited = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      if (!closing) emit({ kind: 'failed', message: problem });
      resolve();
    });
  });
  const post = (message: ToKeeper) => worker.postMessage(message);
  const relay = async (call: number, request: RunnerRequest) => {
    try {
      post({ kind: 'relayed', call, reply: await transport.request(request), problem: '' });
    } catch (cause) {
      post({ kind: 'relayed', call, reply: null, problem: cause instanceof Error ? cause.message : String(cause) });
    }
  };
  worker.on('message', (message: FromKeeper) => {
    if (message.kind === 'event') emit(message.event);
    else void relay(message.call, message.request);
  });
  worker.on('error', (cause: unknown) => {
    problem = cause instanceof Error ? cause.message : String(cause);
  });
  worker.unref();
  return {
    open: (session) => post({ kind: 'open', session }),
    watch: (authority, deadline) => post({ kind: 'watch', authority, deadline }),
    addGroup: (attempt, group) => post({ kind: 'addGroup', attempt, group }),
    removeGroup: (attempt, group) => post({ kind: 'removeGroup', attempt, group }),
    unwatch: (attempt) => post({ kind: 'unwatch', attempt }),
    close() {
      // Waited for: it must not be left out of the count of what keeps the process alive.
      closing = true;
      worker.ref();
      post({ kind: 'close' });
      return exited;
    },
  };
}
