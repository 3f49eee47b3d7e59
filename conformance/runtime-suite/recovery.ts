import type { RuntimeFailpoint } from '../../actors/index.ts';
import type { RunId } from '../../machines/index.ts';
import type { BuiltNode } from '../../machines/plan/index.ts';
import { gate, job } from '../../machines/plan/index.ts';
import type { StoredFact } from '../../store/index.ts';
import type { Host, ScriptedRunner, Stage } from '../testkit/index.ts';
import { user } from '../testkit/index.ts';
import { sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

type Reports = Kit['reports'];

/** A retry, a skip, a gate and a fan-in, so that every kind of follow-up has its moment. */
const nodes: readonly BuiltNode[] = [
  job('build'),
  job('flaky', { needs: ['build'], retry: { attempts: 2, backoff: '2s' } }),
  job('broken', { needs: ['build'], failureImpact: 'allowed' }),
  job('never', { needs: [{ job: 'build', condition: 'failure' }] }),
  gate('go', { needs: ['flaky'], expiry: '5s', onExpiry: 'satisfy' }),
  job('ship', { needs: ['go', 'broken'] }),
];
const end = {
  run: 'Succeeded',
  build: 'Succeeded',
  flaky: 'Succeeded',
  broken: 'Failed',
  never: 'Skipped',
  go: 'Satisfied',
  ship: 'Succeeded',
} as const;
const roundsMax = 60;
/** A claim whose settlement was lost blocks its run until it has run out; so many in a row do not happen. */
const claimsMax = 40;

/** Takes whatever is offered and ends it as the plan of this story has it; the runner shrugs off a dead control plane. */
async function workOn(stage: Stage, run: RunId, host: Host, runner: ScriptedRunner): Promise<void> {
  for (const offer of await runner.poll()) {
    const fails = offer.jobName === 'broken' || (offer.jobName === 'flaky' && (await triesOf(stage, run)) < 2);
    await (fails ? runner.failRunning(offer) : runner.succeed(offer));
  }
  await host.runtime.tick();
}

const triesOf = async (stage: Stage, run: RunId): Promise<number> => (await stage.attempts(run, 'flaky')).length;

/** Lets hosts die and be replaced until the run has ended; gives what they died of. */
async function untilEnded(
  stage: Stage,
  run: RunId,
  first: Host,
  replace: () => Promise<Host>,
  reports: Reports = (host) => host.reports,
): Promise<readonly string[]> {
  let host = first;
  const deaths: string[] = [];
  for (let rounds = 0; rounds < roundsMax; rounds += 1) {
    try {
      const runner = await stage.runner(host, 'ada');
      await workOn(stage, run, host, runner);
      await stage.settle();
      const [trouble] = reports(host);
      if (trouble !== undefined) throw new Error(trouble);
    } catch (error) {
      host.kill();
      deaths.push(String(error));
      host = await replace();
      await host.runtime.start();
    }
    if ((await stage.run(run)).finishedAt !== null) return deaths;
    await stage.pass(2_000);
  }
  throw new Error(`the run did not end: ${JSON.stringify(await stage.states(run))}`);
}

const failpoints: readonly RuntimeFailpoint[] = [
  'command:before-reply',
  'timer:after-claim',
  'timer:after-command',
  'publish:after-claim',
  'publish:before-settle',
  'publish:after-settle',
  'reconcile:mid-batch',
  'reconcile:before-cursor',
];

export function recoveryTests(kit: Kit): void {
  crashTests(kit);
  hintTests(kit);
  errorTests(kit);
}

function crashTests({ calmDescribe, calmTest, expect }: Kit): void {
  calmDescribe('crashes', () => {
    for (const point of failpoints) {
      // The story has but few timers.
      for (const nth of point.startsWith('timer') ? [1, 2] : [1, 4]) {
        calmTest(
          `S41 000 §375.27 000 §364.10: killed at ${point} (${nth}), a new process comes to the same end`,
          async (stage) => {
            const starter = await stage.host();
            const run = await stage.create(starter, nodes);
            const mortal = await stage.mortalHost(point, nth);
            const deaths = await untilEnded(stage, run, mortal, () => stage.host());
            if (deaths.length !== 1) throw new Error(`it died of ${deaths.join(', then of ')}`);
            expect(await stage.states(run)).toEqual(end);
          },
        );
      }
    }

    for (let place = 1; place <= 24; place += 1) {
      calmTest(
        `S22 S41 003 §303.1: killed right after commit ${place}, its answer unknown, the end is the same`,
        async (stage) => {
          const starter = await stage.host();
          const run = await stage.create(starter, nodes);
          const mortal = await stage.mortalHost('command:before-reply', place);
          await untilEnded(stage, run, mortal, () => stage.host());
          expect(await stage.states(run)).toEqual(end);
        },
      );
    }

    calmTest('S41: killed again and again, at every seventh commit', async (stage) => {
      const starter = await stage.host();
      const run = await stage.create(starter, nodes);
      const mortal = () => stage.mortalHost('command:before-reply', 7);
      const deaths = await untilEnded(stage, run, await mortal(), mortal);
      expect([deaths.length > 2, await stage.states(run)]).toEqual([true, end]);
    });
  });
}

function hintTests({ describe, test, calmTest, expect, reports, heal, patienceMs }: Kit): void {
  describe('hints', () => {
    test('003 §301.31 003 §301.32 003 §303.14 003 §303.25: polling and reconciling alone bring a run to its end', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, nodes);
      expect(await untilEnded(stage, run, host, () => stage.host(), reports)).toEqual([]);
      expect(await stage.states(run)).toEqual(end);
    });

    test('003 §301.7: a job whose wake-up is lost is found by the next poll of any process', async (stage) => {
      const host = await stage.host();
      await stage.create(host, [job('a')]);
      host.kill();
      const runner = await stage.runner(await stage.host(), 'ada');
      await runner.take('a');
    });

    calmTest(
      '003 §301.6: a success whose dependents were never told: the reconciler tells them',
      async (stage) => {
        const host = await stage.host();
        const run = await stage.create(host, [job('a'), job('b', { needs: ['a'] })]);
        const runner = await stage.runner(host, 'ada');
        await runner.succeed(await runner.take('a'));
        const [other] = [await stage.host()];
        // The facts are in the store; nobody publishes them, nobody rings.
        await other.runtime.runs.reconcile(run, { actor: user, dryRun: false });
        expect((await stage.states(run)).b).toBe('Eligible');
      },
      { limits: { inlineDependentsMax: 0 } },
    );

    test('a listener that throws harms nobody, and is reported', async (stage) => {
      const host = await stage.host();
      host.runtime.feed.onFacts(() => {
        throw new Error('a careless listener');
      });
      const { run, runner, offer } = await sceneAt(stage, 'UploadingOutputs', {}, { host });
      expect(await runner.complete(offer)).toEqual({ type: 'ok' });
      expect((await stage.run(run)).state).toBe('Succeeded');
      expect(reports(host).every((report) => report.includes('a careless listener'))).toBe(true);
    });

    test('S36 003 §301.1 003 §303.4: every committed fact is in the outbox and reaches the consumers in order', async (stage) => {
      const seen: StoredFact[] = [];
      const consumers = [{ id: 'witness', handle: async (facts: readonly StoredFact[]) => void seen.push(...facts) }];
      const host = await stage.host({ consumers });
      const run = await stage.create(host, nodes);
      await untilEnded(stage, run, host, () => stage.host({ consumers }), reports);
      await host.runtime.tick();
      await heal(stage, host);
      // At least once: what counts is the first time each one came.
      for (let claims = 0; claims < claimsMax; claims += 1) {
        await stage.pass(patienceMs);
        await heal(stage, host);
      }
      const sequences = new Set(seen.filter(({ runId }) => runId === run).map(({ sequence }) => sequence));
      expect([...sequences]).toEqual((await stage.facts(run)).map(({ sequence }) => sequence));
    });

    calmTest('003 §301.17: two publishers share the outbox; every fact is delivered, by one of them', async (stage) => {
      const seen: string[] = [];
      const witness = (name: string) => ({
        consumers: [
          {
            id: 'witness',
            handle: async (facts: readonly StoredFact[]) =>
              void seen.push(...facts.map(({ eventId }) => `${name} ${eventId}`)),
          },
        ],
      });
      const hosts = [await stage.host(witness('one')), await stage.host(witness('two'))];
      const runs = [];
      for (const host of hosts) runs.push(await stage.create(host, [job('a'), job('b')]));
      await Promise.all(hosts.map((host) => host.runtime.tick()));
      const events = seen.map((entry) => entry.slice(4));
      expect(new Set(events).size).toBe(events.length);
      const facts = (await Promise.all(runs.map((run) => stage.facts(run)))).flat();
      expect(events.length).toBe(facts.length);
    });

    test('003 §303.9: facts of one run come in their order, whatever the order between runs', async (stage) => {
      const seen: StoredFact[] = [];
      const consumers = [{ id: 'witness', handle: async (facts: readonly StoredFact[]) => void seen.push(...facts) }];
      const hosts = [await stage.host({ consumers }), await stage.host({ consumers })];
      const runs: RunId[] = [];
      for (const host of hosts) {
        const { run, runner, offer } = await sceneAt(stage, 'Running', {}, { host });
        await runner.fail(offer);
        runs.push(run);
        await Promise.all(hosts.map(({ runtime }) => runtime.tick()));
      }
      for (const run of runs) {
        const first = new Set(seen.filter(({ runId }) => runId === run).map(({ sequence }) => sequence));
        expect([...first]).toEqual([...first].sort((a, b) => a - b));
      }
    });

    calmTest('S36: a consumer that fails holds up nobody else, and has everything once it is well', async (stage) => {
      let ill = true;
      const had: number[] = [];
      const other: number[] = [];
      const consumers = [
        {
          id: 'ill',
          handle: async (facts: readonly StoredFact[]) => {
            if (ill) throw new Error('not now');
            had.push(...facts.map(({ sequence }) => sequence));
          },
        },
        {
          id: 'well',
          handle: async (facts: readonly StoredFact[]) => void other.push(...facts.map(({ sequence }) => sequence)),
        },
      ];
      const host = await stage.host({ consumers });
      await host.runtime.start();
      const { run, runner, offer } = await sceneAt(stage, 'UploadingOutputs', {}, { host });
      await runner.complete(offer);
      await stage.pass(10_000);
      expect([(await stage.run(run)).state, had.length, other.length > 0]).toEqual(['Succeeded', 0, true]);
      ill = false;
      await stage.pass(120_000);
      expect(had).toEqual((await stage.facts(run)).map(({ sequence }) => sequence));
    });
  });
}

function errorTests({ describe, test, calmTest, expect, heal }: Kit): void {
  describe('reconcilers', () => {
    test('000 §376.26 003 §303.16: a second pass finds nothing', async (stage) => {
      const host = await stage.host();
      const { run } = await sceneAt(stage, 'Running', { timeouts: { execution: '5s' } }, { host });
      await stage.pass(stage.limits.leaseTtlMs);
      const successor = await stage.host();
      await successor.runtime.start();
      await stage.settle();
      const as = { actor: user, dryRun: false };
      await heal(stage, successor);
      const facts = (await stage.facts(run)).length;
      expect((await successor.runtime.runs.reconcile(run, as)).issues).toEqual([]);
      await successor.runtime.tick();
      expect((await stage.facts(run)).length).toBe(facts);
    });

    test('a dry run tells what it would do and does nothing', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a', { timeouts: { queue: '5s' } })]);
      await stage.pass(5_000);
      const facts = (await stage.facts(run)).length;
      const report = await host.runtime.runs.reconcile(run, { actor: user, dryRun: true });
      expect(report).toMatchObject({ checked: 1, repaired: 0, issues: [{ code: 'QueueTimeoutOverdue' }] });
      expect((await stage.facts(run)).length).toBe(facts);
    });

    calmTest('S34: a pass that died in the middle goes on from its cursor, and none is left out', async (stage) => {
      const host = await stage.host();
      const runs: RunId[] = [];
      for (let count = 0; count < 5; count += 1)
        runs.push(await stage.create(host, [job('a', { timeouts: { queue: '5s' } })]));
      await stage.pass(5_000);
      const dying = await stage.mortalHost('reconcile:mid-batch', 3);
      await dying.runtime.start().catch(() => null);
      await stage.store.saveReconcileProgress({
        id: 'runs',
        cursor: `${runs[2]}/${runs[2]}`,
        startedAt: 0,
        completedAt: null,
        lastError: null,
      });
      const successor = await stage.host();
      await successor.runtime.start();
      for (const run of runs) expect((await stage.run(run)).state).toBe('Failed');
    });

    calmTest('003 §301.18: several reconcilers at once repair everything once', async (stage) => {
      const hosts = [await stage.host(), await stage.host(), await stage.host()];
      const runs: RunId[] = [];
      for (const host of hosts) runs.push(await stage.create(host, [job('a', { timeouts: { queue: '5s' } })]));
      await stage.pass(5_000);
      await Promise.all(hosts.map((host) => host.runtime.tick()));
      for (const run of runs) {
        expect((await stage.story(run)).filter((type) => type === 'JobTimedOut')).toEqual(['JobTimedOut']);
      }
    });
  });
}
