import { describe, expect, test } from 'vitest';
import { seededFaults, withFaults } from '../../transport/memory/index.ts';
import { systemClock } from '../clock.ts';
import { jobSpec } from '../test-support/job-specs.ts';
import { createStage } from '../test-support/stage.ts';

const seeds = Array.from({ length: 12 }, (_, index) => index + 1);
const attemptsMax = 5;

describe('agent: hostile network', () => {
  test.each(seeds)('000 §342 seed %i: every attempt ends once, with one answer per message id', async (seed) => {
    const rates = { dropRequest: 0.1, dropReply: 0.1, duplicate: 0.2, reorder: 0.2, delay: 0.1 };
    const made = await createStage({
      slots: 2,
      heartbeatEveryMs: 20,
      tuning: { pollEveryMs: 20, requestTimeoutMs: 500 },
      wrapTransport: (transport) =>
        withFaults(transport, { choose: seededFaults(lehmer(seed), rates), clock: systemClock, delayMs: 10 }),
    });
    try {
      const spec = jobSpec(['echo x > out'], { outputs: ['out'] });
      const offered = Array.from({ length: attemptsMax }, () => made.control.offer(spec).attempt);
      for (const attempt of offered) {
        await made.expectEvent('attemptEnded', (event) => event.attempt === attempt);
      }
      await made.agent.drain();
      const ends = made.events.flatMap((event) => (event.kind === 'attemptEnded' ? [event.end.kind] : []));
      expect(ends).toEqual(offered.map(() => 'completed'));
      const steps = made.events.flatMap((event) => (event.kind === 'stepStarted' ? [event.attempt] : []));
      expect(steps.toSorted()).toEqual(offered.toSorted());
    } finally {
      await made.close();
    }
  });
});

function lehmer(seed: number): () => number {
  let state = seed * 7_919;
  return () => {
    state = (state * 48_271) % 0x7fffffff;
    return state / 0x7fffffff;
  };
}
