import { MessageChannel } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import type { RunnerReply, RunnerRequest } from '../../runner/protocol/index.ts';
import { messageBytesMax } from '../../runner/protocol/index.ts';
import { TransportError } from '../index.ts';
import type { MessageFault } from './index.ts';
import { connectPort, createMemoryLink, seededFaults, servePort, withFaults } from './index.ts';

const poll = (messageId: string): RunnerRequest => ({
  version: 1,
  messageId,
  type: 'poll',
  runner: 'r',
  session: 's',
  max: 1,
});
const immediately = {
  setTimer(run: () => void) {
    queueMicrotask(run);
    return () => undefined;
  },
};
/** Answers `reply` and keeps what it was asked. */
function recording(reply: RunnerReply) {
  const seen: RunnerRequest[] = [];
  const handle = async (request: RunnerRequest) => {
    seen.push(request);
    return reply;
  };
  return { seen, handle, ids: () => seen.map((request) => request.messageId) };
}

describe('transport: memory', () => {
  test('000 §289 a request reaches the control plane as a copy and its reply comes back', async () => {
    const sent = poll('m1');
    const { seen, handle } = recording({ type: 'offers', offers: [] });
    const { transport } = createMemoryLink(handle);
    expect(await transport.request(sent)).toEqual({ type: 'offers', offers: [] });
    expect(seen[0]).toEqual(sent);
    expect(seen[0]).not.toBe(sent);
  });

  test('what the wire cannot carry is refused on both ways', async () => {
    const { transport } = createMemoryLink(async () => ({ type: 'rejected', code: '', message: 'x'.repeat(3000) }));
    await expect(transport.request(poll('m'.repeat(65)))).rejects.toThrow(/malformed request: messageId/);
    await expect(transport.request(poll('m1'))).rejects.toThrow(/malformed reply: message/);
  });

  test('a message one byte past the limit is refused, one at the limit passes', async () => {
    const offers = (length: number): RunnerReply => ({
      type: 'offers',
      offers: [
        {
          authority: authority(),
          jobName: 'j',
          runName: 'r',
          attemptNumber: 1,
          offerMs: 1,
          leaseTtlMs: 1,
          spec: { pad: 'x'.repeat(length) },
          inputs: [],
        },
      ],
    });
    const overhead = JSON.stringify(offers(0)).length;
    let length = messageBytesMax - overhead;
    const { transport } = createMemoryLink(async () => offers(length));
    expect((await transport.request(poll('m1'))).type).toBe('offers');
    length += 1;
    await expect(transport.request(poll('m2'))).rejects.toThrow(/more than the limit/);
  });

  test('an aborted request ends as unknown although the control plane goes on', async () => {
    const entered = Promise.withResolvers<void>();
    const { transport } = createMemoryLink(() => {
      entered.resolve();
      return new Promise(() => undefined);
    });
    const abort = new AbortController();
    const request = transport.request(poll('m1'), abort.signal);
    await entered.promise;
    abort.abort();
    await expect(request).rejects.toBeInstanceOf(TransportError);
  });

  test('a handler that throws is an unknown answer', async () => {
    const { transport } = createMemoryLink(() => Promise.reject(new Error('store is down')));
    await expect(transport.request(poll('m1'))).rejects.toBeInstanceOf(TransportError);
  });

  test('the doorbell reaches every listener until it unsubscribes', () => {
    const link = createMemoryLink(async () => ({ type: 'ok' }));
    let rings = 0;
    const stop = link.transport.onDoorbell?.(() => (rings += 1));
    link.ring();
    stop?.();
    link.ring();
    expect(rings).toBe(1);
  });
});

describe('transport: memory: between threads', () => {
  test('requests, doorbells and a second endpoint work over ports', async () => {
    const channel = new MessageChannel();
    const { handle, ids } = recording({ type: 'ok' });
    const server = servePort(channel.port1, handle);
    const client = connectPort(channel.port2);
    const rang = Promise.withResolvers<void>();
    client.onDoorbell?.(() => rang.resolve());
    server.ring();
    await rang.promise;
    expect(await client.request(poll('m1'))).toEqual({ type: 'ok' });
    const endpoint = client.threadEndpoint?.();
    const module: { connect: (data: unknown) => typeof client } = await import(endpoint?.module ?? '');
    const second = module.connect(endpoint?.data);
    expect(await second.request(poll('m2'))).toEqual({ type: 'ok' });
    expect(ids()).toEqual(['m1', 'm2']);
    second.close();
    client.close();
    server.close();
  });
});

describe('transport: faults', () => {
  const recorded = async (...faults: MessageFault[]) => {
    const { handle, ids } = recording({ type: 'ok' });
    const { transport } = createMemoryLink(handle);
    const faulty = withFaults(transport, {
      choose: (_request, index) => faults[index] ?? 'none',
      clock: immediately,
      delayMs: 1,
    });
    const results = await Promise.allSettled(faults.map((_fault, index) => faulty.request(poll(`m${index}`))));
    return { seen: ids(), results: results.map((result) => result.status) };
  };

  test('000 §342 a lost request is never seen, a lost answer was', async () => {
    expect(await recorded('dropRequest', 'dropReply')).toEqual({ seen: ['m1'], results: ['rejected', 'rejected'] });
  });
  test('a duplicate is seen twice and a delayed one late', async () => {
    expect((await recorded('duplicate')).seen).toEqual(['m0', 'm0']);
    expect((await recorded('delay', 'none')).seen).toEqual(['m1', 'm0']);
  });
  test('a reordered request is overtaken by the next one', async () => {
    expect(await recorded('reorder', 'none')).toEqual({ seen: ['m1', 'm0'], results: ['fulfilled', 'fulfilled'] });
  });
  test('the same seed draws the same faults', () => {
    const draw = () => {
      const choose = seededFaults(lehmer(7), { dropRequest: 0.2, dropReply: 0.2, delay: 0.2 });
      return Array.from({ length: 50 }, (_, index) => choose(poll('m'), index));
    };
    expect(draw()).toEqual(draw());
    expect(new Set(draw())).toEqual(new Set(['none', 'dropRequest', 'dropReply', 'delay']));
  });
});

function lehmer(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48271) % 0x7fffffff;
    return state / 0x7fffffff;
  };
}

function authority() {
  return {
    run: 'a',
    job: 'b',
    attempt: 'c',
    lease: 'd',
    epoch: 1,
    runner: 'r',
    session: 's',
    specDigest: `sha256:${'0'.repeat(64)}`,
  };
}
