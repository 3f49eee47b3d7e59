import type { RunId } from '../../machines/index.ts';
import { limits } from '../../machines/index.ts';
import { gate, job } from '../../machines/plan/index.ts';
import type { Host, Stage } from '../testkit/index.ts';
import { user } from '../testkit/index.ts';
import { sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

interface DeadlineCase {
  readonly name: string;
  /** Brings a run to where the deadline stands. */
  readonly act: (stage: Stage, host: Host) => Promise<RunId>;
  readonly afterMs: number;
  /** What the deadline guards, before and after it. */
  readonly look: (stage: Stage, run: RunId) => Promise<string>;
  readonly before: string;
  readonly after: string;
}

const stateOf = async (stage: Stage, run: RunId): Promise<string> => (await stage.job(run, 'a')).state;
const intentOf = async (stage: Stage, run: RunId): Promise<string> => (await stage.job(run, 'a')).intent?.reason ?? '–';
const sceneFor =
  (...[phase, written]: [Parameters<typeof sceneAt>[1], Parameters<typeof sceneAt>[2]?]): DeadlineCase['act'] =>
  async (stage, host) =>
    (await sceneAt(stage, phase, written, { host })).run;

const cases: readonly DeadlineCase[] = [
  {
    name: 'queue',
    act: (stage, host) => stage.create(host, [job('a', { timeouts: { queue: '20s' } })]),
    afterMs: 20_000,
    look: async (stage, run) => `${await stateOf(stage, run)} ${(await stage.job(run, 'a')).failureClass}`,
    before: 'Eligible null',
    after: 'TimedOut Infrastructure',
  },
  {
    name: 'preparation',
    act: sceneFor('Preparing', { timeouts: { preparation: '5s' } }),
    afterMs: 5_000,
    look: intentOf,
    before: '–',
    after: 'PreparationTimeout',
  },
  {
    name: 'execution',
    act: sceneFor('Running', { timeouts: { execution: '5s' } }),
    afterMs: 5_000,
    look: intentOf,
    before: '–',
    after: 'ExecutionTimeout',
  },
  {
    name: 'execution including preparation',
    act: sceneFor('Preparing', { timeouts: { execution: '5s', executionIncludesPreparation: true } }),
    afterMs: 5_000,
    look: intentOf,
    before: '–',
    after: 'ExecutionTimeout',
  },
  {
    name: 'upload',
    act: sceneFor('UploadingOutputs', { timeouts: { upload: '5s' } }),
    afterMs: 5_000,
    look: intentOf,
    before: '–',
    after: 'UploadTimeout',
  },
  {
    name: '003 §301.9 retry',
    act: async (stage, host) => {
      const scene = await sceneAt(stage, 'Running', { retry: { attempts: 2, backoff: '5s' } }, { host });
      await scene.runner.fail(scene.offer);
      return scene.run;
    },
    afterMs: 5_000,
    look: stateOf,
    before: 'RetryWaiting',
    after: 'Eligible',
  },
  {
    name: 'S09 offer',
    act: sceneFor('Leased'),
    afterMs: limits.offerTtlMs,
    look: async (stage, run) =>
      `${await stateOf(stage, run)} ${(await stage.attempts(run, 'a')).map(({ state }) => state)}`,
    before: 'Leased Leased',
    after: 'Eligible Rejected',
  },
  {
    name: '003 §301.8 lease',
    act: sceneFor('Running'),
    afterMs: limits.leaseTtlMs,
    look: async (stage, run) =>
      `${await stateOf(stage, run)} ${(await stage.attempts(run, 'a')).map(({ state }) => state)}`,
    before: 'Running Running',
    after: 'Eligible Lost',
  },
  {
    name: 'lease of a runner that ignores a cancel',
    act: async (stage, host) => {
      const scene = await sceneAt(stage, 'Running', { timeouts: { grace: '4s' } }, { host });
      await stage.pass(3_000);
      await host.runtime.runs.cancel(scene.run, { actor: user });
      await scene.runner.beat(scene.offer);
      return scene.run;
    },
    // Held before the intent: the standing promise is kept, and no renewal goes beyond it.
    afterMs: limits.leaseTtlMs - 3_000,
    look: async (stage, run) => `${await stateOf(stage, run)} ${(await stage.run(run)).state}`,
    before: 'Running Cancelling',
    after: 'Cancelled Cancelled',
  },
  {
    name: '003 §301.10 run deadline',
    act: (stage, host) => stage.create(host, [job('a')], { deadline: '20s' }),
    afterMs: 20_000,
    look: async (stage, run) => `${await stateOf(stage, run)} ${(await stage.run(run)).state}`,
    before: 'Eligible Queued',
    after: 'Cancelled TimedOut',
  },
  ...(['reject', 'satisfy'] as const).map(
    (onExpiry): DeadlineCase => ({
      name: `gate expiry, ${onExpiry}`,
      act: (stage, host) => stage.create(host, [job('a', { needs: ['go'] }), gate('go', { expiry: '5s', onExpiry })]),
      afterMs: 5_000,
      look: async (stage, run) => `${(await stage.gate(run, 'go')).state} ${await stateOf(stage, run)}`,
      before: 'Pending Pending',
      after: onExpiry === 'reject' ? 'Rejected Skipped' : 'Satisfied Eligible',
    }),
  ),
];

export function deadlineTests(kit: Kit): void {
  const { describe, test, calmTest, expect, heal, reports, patienceMs } = kit;
  describe('deadlines', () => {
    for (const { name, act, afterMs, look, before, after } of cases) {
      test(`${name}: not before its time, then by its timer`, async (stage) => {
        const host = await stage.host();
        await host.runtime.start();
        const run = await act(stage, host);
        await stage.pass(afterMs - 1);
        expect(await look(stage, run)).toBe(before);
        await stage.pass(patienceMs);
        await heal(stage, host);
        expect(await look(stage, run)).toBe(after);
      });

      calmTest(`S31 000 §376.11: ${name}: its timer is Fired in the commit it causes`, async (stage) => {
        const host = await stage.host();
        const run = await act(stage, host);
        await stage.pass(afterMs);
        const due = await dueTimers(stage, run);
        await host.runtime.tick();
        await stage.settle();
        const timers = await stage.store.timers(run);
        const fired = timers.filter(({ state, key }) => state === 'Fired' && due.includes(key));
        expect([due.length, fired.length, timers.some(({ state }) => state === 'Claimed')]).toEqual([1, 1, false]);
      });

      test(`000 §376.20 003 §303.13: ${name}: survives a restart`, async (stage) => {
        const host = await stage.host();
        const run = await act(stage, host);
        host.kill();
        await stage.pass(afterMs + 1);
        const successor = await stage.host();
        await successor.runtime.start();
        await stage.settle();
        await heal(stage, successor);
        expect(await look(stage, run)).toBe(after);
        expect(reports(successor)).toEqual([]);
      });

      test(`${name}: fired by several processes at once, and again, it happens once`, async (stage) => {
        const [one, two] = [await stage.host(), await stage.host()];
        const run = await act(stage, one);
        await two.runtime.runs.reconcile(run, { actor: user, dryRun: true });
        await stage.pass(afterMs);
        const facts = (await stage.facts(run)).length;
        await Promise.all([one.runtime.tick(), two.runtime.tick(), one.runtime.tick()]);
        await stage.settle();
        await heal(stage, one);
        expect(await look(stage, run)).toBe(after);
        const once = (await stage.facts(run)).length;
        await Promise.all([one.runtime.tick(), two.runtime.tick()]);
        await stage.settle();
        expect([once > facts, (await stage.facts(run)).length]).toEqual([true, once]);
      });

      calmTest(
        `003 §301.19 003 §301.20: ${name}: when its timer is lost the reconciler finds it, once`,
        async (stage) => {
          const host = await stage.host();
          const run = await act(stage, host);
          await stage.pass(afterMs);
          await loseDueTimers(stage);
          const as = { actor: user, dryRun: false };
          const report = await host.runtime.runs.reconcile(run, as);
          await stage.settle();
          expect([report.issues.length, report.repaired]).toEqual([1, 1]);
          expect(await look(stage, run)).toBe(after);
          expect(await host.runtime.runs.reconcile(run, as)).toMatchObject({ repaired: 0, issues: [] });
        },
      );
    }

    test('a renewed lease moves its timer: it fires once, when the last promise is over', async (stage) => {
      const host = await stage.host();
      await host.runtime.start();
      const { run, runner, offer } = await sceneAt(stage, 'Running', {}, { host });
      for (let beats = 0; beats < 5; beats += 1) {
        await stage.pass(20_000);
        expect(await runner.beat(offer)).toEqual(['continue']);
      }
      await stage.pass(stage.limits.leaseTtlMs - 1);
      expect((await stage.job(run, 'a')).state).toBe('Running');
      await stage.pass(patienceMs);
      await heal(stage, host);
      expect((await stage.story(run, 'a')).filter((type) => type === 'LeaseExpired')).toEqual(['LeaseExpired']);
      expect(reports(host)).toEqual([]);
    });

    test('S32: a timer that is overdue by an hour fires once', async (stage) => {
      const host = await stage.host();
      const scene = await sceneAt(stage, 'Running', { retry: { attempts: 2, backoff: '5s' } }, { host });
      await scene.runner.fail(scene.offer);
      stage.outage(3_600_000);
      await host.runtime.tick();
      await host.runtime.tick();
      await heal(stage, host);
      expect((await stage.story(scene.run, 'a')).filter((type) => type === 'JobEligible').length).toBe(2);
    });

    calmTest('a claim whose holder died is claimed again when it runs out', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a', { timeouts: { queue: '5s' } })]);
      await stage.pass(5_000);
      await stage.store.claimTimers({ limit: 10, claimMs: 30_000, token: 'dead' });
      await host.runtime.start();
      await stage.settle();
      await stage.pass(31_000);
      expect((await stage.job(run, 'a')).state).toBe('TimedOut');
    });

    test('the queue deadline is kept through a refused offer and set anew for a retry', async (stage) => {
      const host = await stage.host();
      const scene = await sceneAt(
        stage,
        'Leased',
        { timeouts: { queue: '20s' }, retry: { attempts: 2, backoff: 'none' } },
        { host },
      );
      const first = (await stage.job(scene.run, 'a')).queueDeadlineAt;
      await stage.pass(4_000);
      await scene.runner.decline(scene.offer);
      expect((await stage.job(scene.run, 'a')).queueDeadlineAt).toBe(first);
      const other = await stage.runner(host, 'bob');
      await other.failRunning(await other.take('a'));
      expect((await stage.job(scene.run, 'a')).queueDeadlineAt).toBe((first ?? 0) + 4_000);
    });
  });
}

async function dueTimers(stage: Stage, run: RunId): Promise<readonly string[]> {
  const timers = await stage.store.timers(run);
  return timers.filter(({ state, dueAt }) => state === 'Pending' && dueAt <= stage.time.now()).map(({ key }) => key);
}

/** As if their rows had never been written: they count as fired, and nothing was done. */
async function loseDueTimers(stage: Stage): Promise<void> {
  const claimed = await stage.store.claimTimers({ limit: 100, claimMs: 1, token: 'lost' });
  await stage.store.settleTimers(
    claimed.map(({ runId, token, deadline }) => ({ runId, token, key: deadline.key, rearmAt: null })),
  );
}
