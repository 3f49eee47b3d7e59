import { describe, expect, it } from 'vitest';
import { createServerClock } from './server-clock.ts';

describe('postgres clock', () => {
  const setUp = () => {
    let monotonic = 500;
    const clock = createServerClock({ monotonicMs: () => monotonic, replacement: null });
    return {
      clock,
      pass(ms: number) {
        monotonic += ms;
      },
    };
  };

  it('goes on from what the server said last, by the time that passes here', () => {
    const { clock, pass } = setUp();
    clock.observe(1_000_000);
    pass(250.7);
    expect(clock.now()).toBe(1_000_250);
    clock.observe(1_000_400);
    expect(clock.now()).toBe(1_000_400);
  });

  it('an answer that took long does not turn it back', () => {
    const { clock, pass } = setUp();
    clock.observe(1_000_000);
    pass(100);
    clock.observe(1_000_060);
    expect(clock.now()).toBe(1_000_100);
    pass(1);
    expect(clock.now()).toBe(1_000_101);
  });

  it('follows a server whose clock was set back', () => {
    const { clock, pass } = setUp();
    clock.observe(1_000_000);
    pass(100);
    clock.observe(900_000);
    expect(clock.now()).toBe(900_000);
  });

  it('is never asked by the server, unless a test takes its place', () => {
    const { clock } = setUp();
    expect(clock.fixed()).toBe(null);
    const replaced = createServerClock({ monotonicMs: () => 0, replacement: { now: () => 7 } });
    replaced.observe(1_000);
    expect([replaced.fixed(), replaced.now()]).toEqual([7, 7]);
  });
});
