import { afterEach, describe, expect, test } from 'vitest';
import type { RunnerClock } from '../clock.ts';
import { jobSpec } from '../test-support/job-specs.ts';
import type { Stage, StageOptions } from '../test-support/stage.ts';
import { createStage, createWitness, stubborn } from '../test-support/stage.ts';
import { runSessions } from './session-loop.ts';

const stages: Stage[] = [];
async function stage(options: StageOptions = {}): Promise<Stage> {
  const made = await createStage({ tuning: { sessionRetryMs: 1, sessionRetryMsMax: 5, pollEveryMs: 5 }, ...options });
  stages.push(made);
  return made;
}
afterEach(async () => {
  await Promise.all(stages.splice(0).map((made) => made.close()));
});

/** The control plane serves polls of the session that said hello first no more. */
function endSession(made: Stage, code: string): void {
  const [first] = made.control.of('hello');
  made.control.react((request) =>
    request.type === 'poll' && request.session === first?.session ? { type: 'rejected', code, message: '' } : undefined,
  );
  made.control.ring();
}

describe('agent: a session that was ended', () => {
  test.each(['SessionNotActive', 'Foreign'])(
    '000 §268 after %s the agent comes back as a new session, without its old work',
    async (code) => {
      const made = await stage({ slots: 2 });
      const witness = await createWitness(made.dir);
      const old = made.control.offer(jobSpec([`exec "${process.execPath}" -e '${stubborn(witness)}'`]));
      await witness.present(1);
      made.control.direct(old.attempt, { kind: 'stale' });
      let aliveAtHello = false;
      made.control.react((request) => {
        if (request.type === 'hello') aliveAtHello = !made.events.some(({ kind }) => kind === 'attemptEnded');
        return undefined;
      });
      endSession(made, code);
      const again = await made.control.expectMessage('hello', ({ session }) => session !== old.session);
      await made.expectEvent('sessionOpened', ({ session }) => session === again.session);
      expect(aliveAtHello).toBe(false);
      await witness.gone();
      witness.close();
      const fresh = made.control.offer(jobSpec(['true']));
      expect((await made.control.expectMessage('complete')).authority).toEqual(fresh);
      expect(fresh.session).toBe(again.session);
    },
  );

  test('000 §268 a refused hello is said again, each time as another session', async () => {
    const made = await stage();
    made.control.react((request) =>
      request.type === 'hello' && made.control.of('hello').length < 4
        ? { type: 'rejected', code: 'NotAllowed', message: '' }
        : undefined,
    );
    endSession(made, 'Foreign');
    await made.expectEvent('sessionOpened', ({ session }) => session === made.control.of('hello')[3]?.session);
    expect(new Set(made.control.of('hello').map(({ session }) => session)).size).toBe(4);
  });

  test('an agent that waits to come back can be stopped', async () => {
    const made = await stage({ tuning: { sessionRetryMs: 1_000_000, sessionRetryMsMax: 1_000_000, pollEveryMs: 5 } });
    endSession(made, 'Foreign');
    await made.expectEvent('sessionEnded');
    await made.agent.stop({ graceMs: 0 });
    await made.agent.closed;
    expect(made.control.of('hello')).toHaveLength(1);
  });
});

describe('agent: coming back', () => {
  /** Runs sessions that last as long as said, and gives the delays between them. */
  async function delaysAfter(lastingMs: readonly number[]): Promise<number[]> {
    let now = 0;
    const delays: number[] = [];
    const clock: RunnerClock = {
      now: () => now,
      monotonic: () => now,
      setTimer(run, ms) {
        delays.push(ms);
        queueMicrotask(run);
        return () => undefined;
      },
    };
    const lasting = [...lastingMs];
    await runSessions({
      clock,
      random: () => 1,
      stop: new AbortController().signal,
      async serve() {
        const ms = lasting.shift();
        now += ms ?? 0;
        return ms === undefined ? null : 'Foreign';
      },
      settle: async () => undefined,
      open: async () => null,
      retryMs: 100,
      retryMsMax: 1_000,
    });
    return delays;
  }

  test('the delay doubles up to its maximum, and begins anew after a session that lasted', async () => {
    expect(await delaysAfter([0, 0, 0, 0, 0, 0])).toEqual([100, 200, 400, 800, 1_000, 1_000]);
    expect(await delaysAfter([0, 0, 2_000, 2_001, 0])).toEqual([100, 200, 400, 100, 200]);
  });
});
