import { beforeEach, describe, expect, test } from 'vitest';
import type { Directive, MessageAuthority, RunnerReply, RunnerRequestOf } from '../protocol/index.ts';
import type { KeeperEvent, LeaseKeeper } from './keeper.ts';
import { createLeaseKeeper, localDeadline } from './keeper.ts';

/** Time passes only when the test says so; timers fire in order, replies settle in between. */
function fakeClock() {
  let time = 1_000;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  return {
    monotonic: () => time,
    setTimer(run: () => void, ms: number) {
      const timer = { at: time + Math.max(0, ms), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms: number) {
      const end = time + ms;
      for (;;) {
        await settle();
        const [next] = [...timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers.delete(next);
        time = Math.max(time, next.at);
        next.run();
      }
      time = end;
    },
    pending: () => timers.size,
  };
}
async function settle() {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

let clock: ReturnType<typeof fakeClock>;
let keeper: LeaseKeeper;
let killed: number[];
let events: KeeperEvent[];
let sent: RunnerRequestOf<'heartbeat'>[];
let answer: (attempt: string) => Directive | 'fail' | 'hang';

beforeEach(() => {
  clock = fakeClock();
  killed = [];
  events = [];
  sent = [];
  answer = () => ({ kind: 'continue', leaseMs: 1_000 });
  keeper = createLeaseKeeper({
    clock,
    newMessageId: () => `m${sent.length}`,
    kill: (group) => killed.push(group),
    emit: (event) => events.push(event),
    send(request, signal) {
      if (request.type !== 'heartbeat') throw new Error('only heartbeats are sent here');
      sent.push(request);
      const answers = request.attempts.map(({ attempt }) => ({ attempt, directive: answer(attempt) }));
      if (answers.some(({ directive }) => directive === 'fail')) return Promise.reject(new Error('lost'));
      if (answers.some(({ directive }) => directive === 'hang')) {
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
      }
      const directives = answers.flatMap(({ attempt, directive }) =>
        typeof directive === 'string' ? [] : [{ attempt, directive }],
      );
      return Promise.resolve<RunnerReply>({ type: 'directives', directives });
    },
  });
  keeper.open({ runner: 'r', session: 's', heartbeatEveryMs: 100 });
});

const authority = (attempt: string): MessageAuthority => ({
  run: 'run',
  job: 'job',
  attempt,
  lease: 'lease',
  epoch: 1,
  runner: 'r',
  session: 's',
  specDigest: `sha256:${'0'.repeat(64)}`,
});
const watch = (attempt: string, leaseMs = 1_000) =>
  keeper.watch(authority(attempt), localDeadline(clock.monotonic(), leaseMs));
const kinds = () => events.map((event) => event.kind);

describe('lease keeper', () => {
  test('K1 the local deadline is earlier than the lease, whatever its length', () => {
    for (const leaseMs of [0, 1, 100, 30_000]) expect(localDeadline(500, leaseMs)).toBeLessThanOrEqual(500 + leaseMs);
    expect(localDeadline(0, 1_000)).toBe(900);
    expect(localDeadline(0, 60_000)).toBe(59_000);
  });

  test('000 §42 renewed leases live on, and one message renews all of them', async () => {
    watch('a');
    watch('b');
    await clock.advance(5_000);
    expect(kinds()).not.toContain('expired');
    expect(sent.every((request) => request.attempts.length === 2)).toBe(true);
    expect(new Set(sent.map((request) => request.messageId)).size).toBe(sent.length);
  });

  test('more attempts than one message holds are renewed in several', async () => {
    for (let index = 0; index < 257; index += 1) watch(`a${index}`);
    await clock.advance(100);
    expect(sent.map((request) => request.attempts.length)).toEqual([256, 1]);
  });

  test('S06 failed renewals are retried, and the deadline counts from the last one that was answered', async () => {
    watch('a');
    keeper.addGroup('a', 77);
    await clock.advance(200);
    answer = () => 'fail';
    await clock.advance(799);
    expect(killed).toEqual([]);
    expect(kinds().filter((kind) => kind === 'trouble').length).toBeGreaterThan(5);
    await clock.advance(101);
    expect(killed).toEqual([77]);
    expect(kinds().at(-1)).toBe('expired');
  });

  test('a renewal that hangs does not hold up the next one', async () => {
    watch('a');
    answer = () => 'hang';
    await clock.advance(250);
    answer = () => ({ kind: 'continue', leaseMs: 1_000 });
    await clock.advance(2_000);
    expect(kinds()).toContain('recovered');
    expect(kinds()).not.toContain('expired');
  });

  test('000 §190 Stale kills at once, stops renewing, and the deadline still ends what is being said', async () => {
    watch('a');
    keeper.addGroup('a', 77);
    answer = () => ({ kind: 'stale' });
    await clock.advance(100);
    expect(killed).toEqual([77]);
    const renewals = sent.length;
    await clock.advance(2_000);
    expect(sent.length).toBe(renewals);
    expect(kinds()).toEqual(['directive', 'expired']);
  });

  test('K4 a group that comes after the end is killed', async () => {
    keeper.addGroup('never', 1_001);
    watch('a');
    answer = () => 'fail';
    await clock.advance(2_000);
    keeper.addGroup('a', 1_002);
    watch('b');
    answer = () => ({ kind: 'stale' });
    await clock.advance(100);
    keeper.addGroup('b', 1_003);
    expect(killed).toEqual([1_001, 1_002, 1_003]);
  });

  test('a shorter lease in a late answer never shortens what was granted, and none extends without an answer', async () => {
    watch('a');
    answer = () => ({ kind: 'cancel', intent: 'Cancelled', leaseMs: 10 });
    await clock.advance(850);
    expect(kinds()).not.toContain('expired');
    await clock.advance(60);
    expect(kinds()).toContain('expired');
  });

  test('000 §176 after the last attempt and after closing no timer is left', async () => {
    watch('a');
    await clock.advance(50);
    keeper.unwatch('a');
    await clock.advance(100);
    expect(clock.pending()).toBe(0);
    watch('b');
    void keeper.close();
    expect(clock.pending()).toBe(0);
  });
});
