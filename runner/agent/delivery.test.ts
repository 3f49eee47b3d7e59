import { afterEach, describe, expect, test } from 'vitest';
import { withFaults } from '../../transport/memory/index.ts';
import { systemClock } from '../clock.ts';
import type { RunnerReply, RunnerRequest } from '../protocol/index.ts';
import { jobSpec, timeouts } from '../test-support/job-specs.ts';
import type { Stage, StageOptions } from '../test-support/stage.ts';
import { createStage, createWitness, stubborn } from '../test-support/stage.ts';

const stages: Stage[] = [];
async function stage(options: StageOptions = {}): Promise<Stage> {
  const made = await createStage(options);
  stages.push(made);
  return made;
}
afterEach(async () => {
  await Promise.all(stages.splice(0).map((made) => made.close()));
});

const losing = (fault: 'dropRequest' | 'dropReply', types: readonly RunnerRequest['type'][]): StageOptions => {
  const lost = new Set<string>();
  return {
    wrapTransport: (transport) =>
      withFaults(transport, {
        clock: systemClock,
        delayMs: 1,
        choose({ type }) {
          if (!types.includes(type) || lost.has(type)) return 'none';
          lost.add(type);
          return fault;
        },
      }),
  };
};

describe('agent: answers that are not known', () => {
  test('000 §342 after a lost answer the same message id is sent again until it is answered', async () => {
    const types = ['accept', 'start', 'finish', 'complete'] as const;
    const made = await stage(losing('dropReply', types));
    made.control.offer(jobSpec(['true']));
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'completed' } });
    for (const type of types) {
      const ids = made.control.of(type).map((request) => request.messageId);
      expect(ids.length, type).toBe(2);
      expect(new Set(ids).size, type).toBe(1);
    }
  });

  test('lost requests are sent again', async () => {
    const made = await stage(losing('dropRequest', ['hello', 'poll', 'accept', 'start', 'finish', 'complete']));
    made.control.offer(jobSpec(['true']));
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'completed' } });
  });

  test('000 §188 after a silence the agent tells where its attempts stand', async () => {
    const made = await stage(losing('dropReply', ['start']));
    const authority = made.control.offer(jobSpec(['true']));
    const resync = await made.control.expectMessage('resync');
    expect(resync.attempts).toEqual([{ authority, phase: 'preparing' }]);
  });

  test('Overloaded is no answer: the same message is sent again', async () => {
    const made = await stage();
    let busy = true;
    made.control.react((request) => {
      if (request.type !== 'start' || !busy) return undefined;
      busy = false;
      return { type: 'rejected', code: 'Overloaded', message: '' };
    });
    made.control.offer(jobSpec(['true']));
    await made.control.expectMessage('complete');
    expect(new Set(made.control.of('start').map((request) => request.messageId)).size).toBe(1);
  });

  test('a completion that is never answered is given up at the own deadline', async () => {
    const made = await stage({ leaseTtlMs: 400, heartbeatEveryMs: 50 });
    made.control.react((request) =>
      request.type === 'complete' || request.type === 'heartbeat' ? Promise.reject(new Error('gone')) : undefined,
    );
    made.control.offer(jobSpec(['true']));
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'abandoned' } });
    expect(made.control.of('complete').length).toBeGreaterThan(1);
  });

  test('Stale while the completion is being asked for does not hide its answer', async () => {
    const made = await stage({ heartbeatEveryMs: 20, keeper: 'loop' });
    const heartbeats = Promise.withResolvers<void>();
    made.control.react((request) => {
      if (request.type !== 'complete') return undefined;
      made.control.direct(request.authority.attempt, { kind: 'stale' });
      return heartbeats.promise.then((): RunnerReply => ({ type: 'ok' }));
    });
    made.control.react((request) => {
      // Held open until a renewal has been answered with Stale.
      if (request.type === 'heartbeat' && made.control.of('complete').length > 0) setImmediate(heartbeats.resolve);
      return undefined;
    });
    made.control.offer(jobSpec(['true']));
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'completed' } });
  });
});

describe('agent: offers that come again', () => {
  test('000 §342 an attempt that was given up is not run again when its offer is repeated late', async () => {
    const made = await stage();
    made.control.react((request) =>
      request.type === 'finish' ? { type: 'rejected', code: 'Stale', message: '' } : undefined,
    );
    const { attempt } = made.control.offer(jobSpec(['true']));
    const [offer] = made.control.takeOffers();
    made.control.react((request) =>
      request.type === 'poll' && offer !== undefined ? { type: 'offers', offers: [offer] } : undefined,
    );
    made.control.ring();
    await made.expectEvent('attemptEnded');
    const polls = made.control.of('poll').length;
    made.control.ring();
    await made.control.expectMessage('poll', () => made.control.of('poll').length > polls + 1);
    expect(made.control.of('accept').map((request) => request.authority.attempt)).toEqual([attempt]);
  });
});

describe('agent: refused phase messages', () => {
  test('OutputsUnverified: the outputs are uploaded again and named in a new completion', async () => {
    const made = await stage();
    made.control.react(async (request) => {
      if (request.type !== 'complete' || made.control.of('complete').length !== 1) return undefined;
      for (const output of request.outputs) await made.outputs.remove(output.digest);
      return { type: 'rejected', code: 'OutputsUnverified', message: 'one is missing' };
    });
    made.control.offer(jobSpec(['echo x > out'], { outputs: ['out'] }));
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'completed' } });
    const [first, second] = made.control.of('complete');
    expect(second?.messageId).not.toBe(first?.messageId);
    expect(await made.outputs.verify(second?.outputs ?? [])).toEqual({ missing: [], corrupt: [] });
  });

  test('000 §121 uploads are tried again inside the attempt, then it fails as OutputUpload', async () => {
    const made = await stage({ tuning: { uploadTriesMax: 2, uploadRetryMs: 1 } });
    made.outputs.put = () => Promise.reject(new Error('no space left'));
    made.control.offer(jobSpec(['echo x > out'], { outputs: ['out'] }));
    expect(await made.control.expectMessage('fail')).toMatchObject({ failureClass: 'OutputUpload', transient: true });
  });

  test('000 §187 OutOfOrder: the agent resyncs, repeats its phases and goes on', async () => {
    const made = await stage();
    let missed = true;
    made.control.react((request) => {
      if (request.type !== 'finish' || !missed) return undefined;
      missed = false;
      return { type: 'rejected', code: 'OutOfOrder', message: '' };
    });
    made.control.offer(jobSpec(['true']));
    await made.control.expectMessage('complete');
    const types = made.control.received
      .map((request) => request.type)
      .filter((type) => type !== 'poll' && type !== 'progress');
    expect(types).toEqual(['hello', 'accept', 'start', 'finish', 'resync', 'accept', 'start', 'finish', 'complete']);
  });

  test.each(['accept', 'start', 'finish'] as const)(
    '000 §190 a %s that is answered Stale goes no further',
    async (type) => {
      const made = await stage();
      made.control.react((request) =>
        request.type === type ? { type: 'directive', directive: { kind: 'stale' } } : undefined,
      );
      made.control.offer(jobSpec(['true']));
      await (type === 'accept' ? made.expectEvent('offerRefused') : made.expectEvent('attemptEnded'));
      const types = made.control.received.map((request) => request.type);
      expect(types.filter((sent) => !['hello', 'poll', 'progress'].includes(sent)).at(-1)).toBe(type);
      expect(made.events.some((event) => event.kind === 'stepStarted')).toBe(type === 'finish');
    },
  );

  test('any other rejection ends the attempt without a report', async () => {
    const made = await stage();
    made.control.react((request) =>
      request.type === 'finish' ? { type: 'rejected', code: 'Stale', message: '' } : undefined,
    );
    made.control.offer(jobSpec(['true']));
    expect(await made.expectEvent('attemptEnded')).toMatchObject({
      end: { kind: 'abandoned', why: expect.stringContaining('Stale') },
    });
    expect(made.control.of('complete')).toEqual([]);
  });
});

describe('agent: leaving', () => {
  test('000 §191 drain: running work is finished, nothing new is taken, then goodbye', async () => {
    const made = await stage();
    const finish = Promise.withResolvers<undefined>();
    made.control.react((request) => (request.type === 'start' ? finish.promise : undefined));
    made.control.offer(jobSpec(['true']));
    await made.control.expectMessage('start');
    const drained = made.agent.drain();
    await made.control.expectMessage('drain');
    made.control.offer(jobSpec(['true']));
    finish.resolve(undefined);
    await drained;
    await made.agent.closed;
    expect(made.control.of('complete')).toHaveLength(1);
    expect(made.control.of('accept')).toHaveLength(1);
    expect(made.control.received.at(-1)?.type).toBe('bye');
  });

  test('000 §192 a shutdown is reported as a transient infrastructure failure', async () => {
    const made = await stage();
    const witness = await createWitness(made.dir);
    made.control.offer(
      jobSpec([`exec "${process.execPath}" -e '${stubborn(witness)}'`], {
        timeouts: timeouts({ terminationGraceMs: 50 }),
      }),
    );
    await witness.present(1);
    await made.agent.stop({ graceMs: 20_000 });
    await witness.gone();
    witness.close();
    expect(made.control.of('fail')).toMatchObject([{ failureClass: 'Infrastructure', transient: true }]);
    expect(made.control.received.at(-1)?.type).toBe('bye');
  });

  test('S10 a session that a newer one of the same runner replaced ends the agent after its work', async () => {
    const made = await stage({ tuning: { pollEveryMs: 5 } });
    made.control.react((request) =>
      request.type === 'poll' ? { type: 'rejected', code: 'Stale', message: '' } : undefined,
    );
    made.control.ring();
    await made.agent.closed;
    expect(made.events.at(-1)).toEqual({ kind: 'sessionEnded', code: 'Stale' });
    expect(made.control.of('hello')).toHaveLength(1);
  });
});
