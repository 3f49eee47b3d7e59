import type { Permission } from '../../actors/index.ts';
import { permissions } from '../../actors/index.ts';
import { gate, job } from '../../machines/plan/index.ts';
import { user } from '../testkit/index.ts';
import { activePhases, sceneAt } from './acts.ts';
import type { Kit } from './kit.ts';

const allowed = (...names: readonly Permission[]) => ({ id: 'user:bob', permissions: new Set(names) });

export function controlTests(kit: Kit): void {
  cancelTests(kit);
  supersessionTests(kit);
  permissionTests(kit);
}

function cancelTests({ describe, test, expect, patienceMs }: Kit): void {
  describe('cancel', () => {
    for (const phase of activePhases) {
      test(`000 §375.16 000 §375.17 000 §376.14: a run cancelled in ${phase} ends Cancelled, its job too, never Failed`, async (stage) => {
        const { host, run, runner, offer } = await sceneAt(stage, phase);
        const result = await host.runtime.runs.cancel(run, { actor: user, message: 'enough' });
        const reply = { kind: 'run', state: phase === 'Leased' ? 'Cancelled' : 'Cancelling', intent: 'Cancelled' };
        expect(result).toEqual({ outcome: 'accepted', reply });
        expect(await runner.poll()).toEqual([]);
        if (phase !== 'Leased') {
          expect(await runner.beat(offer)).toEqual(['cancel']);
          expect(await runner.stopped(offer)).toEqual({ type: 'ok' });
        }
        expect(await stage.states(run)).toEqual({ run: 'Cancelled', a: 'Cancelled' });
        expect((await stage.run(run)).reason).toMatchObject({ code: 'RunCancelled' });
        expect(await runner.accept(offer)).toEqual({ type: 'directive', directive: { kind: 'stale' } });
      });

      test(`a job cancelled in ${phase} ends Cancelled; an operator’s cancel is no failure of the run`, async (stage) => {
        const { host, run, runner, offer } = await sceneAt(stage, phase);
        await host.runtime.jobs.cancel(run, (await stage.job(run, 'a')).id, { actor: user });
        if (phase !== 'Leased') await runner.stopped(offer);
        expect(await stage.states(run)).toEqual({ run: 'Cancelled', a: 'Cancelled' });
      });
    }

    test('000 §375.17: cancelling reaches every node: waiting, retrying, offered, running, gates; what has ended stays', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [
        job('done'),
        job('running'),
        job('offered'),
        job('retrying', { retry: { attempts: 2, backoff: '1h' } }),
        job('eligible', { capabilities: ['none-has-it'] }),
        job('pending', { needs: ['running'] }),
        gate('asked', { needs: ['done'] }),
        gate('closed', { needs: ['running'] }),
      ]);
      const runner = await stage.runner(host, 'ada');
      await runner.succeed(await runner.take('done'));
      await runner.failRunning(await runner.take('retrying'));
      const held = await runner.take('running');
      await runner.accept(held);
      await host.runtime.runs.cancel(run, { actor: user });
      expect(await stage.states(run)).toEqual({
        run: 'Cancelling',
        done: 'Succeeded',
        running: 'Preparing',
        offered: 'Cancelled',
        retrying: 'Cancelled',
        eligible: 'Cancelled',
        pending: 'Cancelled',
        asked: 'Cancelled',
        closed: 'Cancelled',
      });
      await runner.stopped(held);
      expect((await stage.run(run)).state).toBe('Cancelled');
    });

    test('S20: a cancelling run grants nothing, and a refused start ends the attempt', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Preparing');
      await host.runtime.runs.cancel(run, { actor: user });
      for (let times = 0; times < 3; times += 1) expect(await runner.poll()).toEqual([]);
      expect(await runner.start(offer)).toMatchObject({ directive: { kind: 'cancel' } });
      expect(await stage.states(run)).toEqual({ run: 'Cancelled', a: 'Cancelled' });
      expect((await stage.attempts(run, 'a')).length).toBe(1);
    });

    test('S21: a runner that never answers cannot keep a run Cancelling', async (stage) => {
      const { host, run } = await sceneAt(stage, 'Running');
      await host.runtime.start();
      await host.runtime.runs.cancel(run, { actor: user });
      await stage.pass(stage.limits.leaseTtlMs + patienceMs);
      expect(await stage.states(run)).toEqual({ run: 'Cancelled', a: 'Cancelled' });
    });

    test('000 §375.18: the run deadline asks what runs to stop, and the run ends TimedOut', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Running', {}, { header: { deadline: '20s' } });
      await stage.pass(20_000);
      await host.runtime.tick();
      expect(await stage.states(run)).toEqual({ run: 'Cancelling', a: 'Running' });
      expect(await runner.beat(offer)).toEqual(['cancel']);
      await runner.stopped(offer);
      expect(await stage.states(run)).toEqual({ run: 'TimedOut', a: 'Cancelled' });
    });

    test('the first intent of a run stands', async (stage) => {
      const { host, run, runner, offer } = await sceneAt(stage, 'Running', {}, { header: { deadline: '20s' } });
      await host.runtime.runs.cancel(run, { actor: user });
      await stage.pass(19_000);
      await runner.beat(offer);
      await stage.pass(2_000);
      await host.runtime.tick();
      expect((await stage.run(run)).intent).toMatchObject({ kind: 'Cancelled' });
      expect(await host.runtime.runs.cancel(run, { actor: user })).toMatchObject({
        outcome: 'no-op',
        code: 'AlreadyTerminating',
      });
      await runner.stopped(offer);
      expect((await stage.run(run)).state).toBe('Cancelled');
    });
  });
}

function supersessionTests({ describe, test, calmTest, expect }: Kit): void {
  const header = { concurrency: { group: 'main', supersede: true } } as const;
  describe('supersession', () => {
    test('a new run of the group ends the older ones, which keep who replaced them', async (stage) => {
      const host = await stage.host();
      const queued = await stage.create(host, [job('a')], header);
      await stage.pass(1_000);
      const { run: running, runner, offer } = await sceneAt(stage, 'Running', {}, { host, header });
      await stage.pass(1_000);
      const result = await stage.request(host, stage.plan([job('a')], header));
      if (result.outcome === 'rejected') throw new Error(result.code);
      if (result.outcome === 'created') expect(result.superseded).toEqual([running]);
      expect((await stage.run(queued)).intent).toMatchObject({ kind: 'Superseded', supersededBy: running });
      await runner.stopped(offer);
      expect(await stage.states(running)).toEqual({ run: 'Superseded', a: 'Cancelled' });
      expect((await stage.run(running)).intent).toMatchObject({ supersededBy: result.runId });
      expect((await stage.run(result.runId)).state).toBe('Queued');
    });

    test('other groups, projects and runs without supersede are left alone', async (stage) => {
      const host = await stage.host();
      const others = [
        await stage.create(host, [job('a')], { concurrency: { group: 'other', supersede: true } }),
        await stage.create(host, [job('a')], { ...header, project: 'other' }),
        await stage.create(host, [job('a')]),
      ];
      await stage.pass(1_000);
      await stage.create(host, [job('a')], header);
      for (const run of others) expect((await stage.run(run)).state).toBe('Queued');
    });

    calmTest('a creator that dies before it supersedes: the reconciler does it', async (stage) => {
      const host = await stage.host();
      const older = await stage.create(host, [job('a')], header);
      await stage.pass(1_000);
      const dying = await stage.host();
      const plan = stage.plan([job('a')], header);
      // The search for older runs is the first thing after the commit that lists runs.
      const request = stage.request(dying, plan);
      const newest = async () => (await stage.store.runs({}, { limit: 1, cursor: null })).items[0];
      for (let turns = 0; turns < 100 && (await newest())?.id === older; turns += 1) await Promise.resolve();
      dying.kill();
      await request.catch(() => null);
      const newer = (await newest())?.id;
      expect((await stage.run(older)).state).toBe('Queued');
      await host.runtime.tick();
      await stage.settle();
      expect(await stage.run(older)).toMatchObject({ state: 'Superseded', intent: { supersededBy: newer } });
    });
  });
}

function permissionTests({ describe, test, calmTest, expect, heal }: Kit): void {
  describe('permissions and audit', () => {
    test('whoever lacks the permission is refused, nothing changes, and it is on record', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a'), job('b', { needs: ['go'] }), gate('go')]);
      const before = await stage.run(run);
      const { runs, jobs, gates } = host.runtime;
      const a = (await stage.job(run, 'a')).id;
      const nobody = { actor: allowed('run.read') };
      const refused = [
        await runs.cancel(run, nobody),
        await runs.changePriority(run, 5, nobody),
        await runs.retry(run, nobody),
        await jobs.cancel(run, a, nobody),
        await jobs.skip(run, a, nobody),
        await jobs.markEligible(run, a, nobody),
        // The same answer whether there is such a job or not.
        await jobs.markEligible(run, 'no-such-job' as typeof a, nobody),
        await gates.decide(run, (await stage.gate(run, 'go')).id, 'approve', nobody),
        await runs.create({ ...nobody, plan: stage.plan([job('x')]), planDigest: before.planDigest }),
      ];
      expect(refused.map((one) => ('code' in one ? one.code : one.outcome))).toEqual(refused.map(() => 'NotAllowed'));
      expect((await runs.reconcile(run, { ...nobody, dryRun: false })).checked).toBe(0);
      expect(await stage.run(run)).toEqual(before);
      const log = await stage.store.auditLog({ limit: 100 });
      const denied = new Set(log.filter(({ outcome }) => outcome === 'denied').map(({ action }) => action));
      expect(denied.size).toBe(9);
      expect(log.every(({ actor }) => actor === 'user:bob')).toBe(true);
    });

    test('each permission opens its own door and no other', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a')]);
      const a = (await stage.job(run, 'a')).id;
      const needed: Readonly<Record<string, Permission>> = {
        cancel: 'run.cancel',
        priority: 'run.priority',
        skip: 'job.skip',
      };
      for (const [what, permission] of Object.entries(needed)) {
        const actor = allowed(...permissions.filter((one) => one !== permission));
        const { runs, jobs } = host.runtime;
        const result =
          what === 'cancel'
            ? await runs.cancel(run, { actor })
            : what === 'priority'
              ? await runs.changePriority(run, 1, { actor })
              : await jobs.skip(run, a, { actor });
        expect(result).toMatchObject({ code: 'NotAllowed' });
      }
    });

    test('000 §375.33 000 §376.27: manual cancel, skip, priority and approval are audited with actor and message', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a'), job('b'), job('c', { needs: ['go'] }), gate('go')]);
      const by = (id: string) => ({ actor: { id, permissions: 'all' as const }, message: `because of ${id}` });
      await host.runtime.jobs.skip(run, (await stage.job(run, 'a')).id, by('user:one'));
      await host.runtime.jobs.cancel(run, (await stage.job(run, 'b')).id, by('user:two'));
      await host.runtime.gates.decide(run, (await stage.gate(run, 'go')).id, 'approve', by('user:three'));
      await host.runtime.runs.changePriority(run, 4, by('user:four'));
      await host.runtime.runs.cancel(run, by('user:five'));
      const log = await stage.store.auditLog({ runId: run, limit: 10 });
      expect(
        [...log].reverse().map(({ action, actor, outcome, message }) => [action, actor, outcome, message]),
      ).toEqual([
        ['job.skip', 'user:one', 'allowed', 'because of user:one'],
        ['job.cancel', 'user:two', 'allowed', 'because of user:two'],
        ['gate.approve', 'user:three', 'allowed', 'because of user:three'],
        ['run.priority', 'user:four', 'allowed', 'because of user:four'],
        ['run.cancel', 'user:five', 'allowed', 'because of user:five'],
      ]);
      expect((await stage.job(run, 'a')).reason).toMatchObject({ code: 'Manual', message: 'because of user:one' });
      expect((await stage.gate(run, 'go')).decidedBy).toBe('user:three');
    });

    calmTest(
      '000 §376.27: a manual repair needs its permission; refused or carried out, it is on record',
      async (stage) => {
        const host = await stage.host();
        const run = await stage.create(host, [job('a', { timeouts: { queue: '5s' } })]);
        await stage.pass(5_000);
        const before = await stage.run(run);
        const others = permissions.filter((one) => one !== 'run.repair');
        const denied = await host.runtime.runs.reconcile(run, { actor: allowed(...others), dryRun: false });
        expect([denied.checked, denied.repaired, await stage.run(run)]).toEqual([0, 0, before]);
        const operator = { actor: { ...allowed('run.repair'), id: 'user:ops' }, message: 'stuck since noon' };
        expect((await host.runtime.runs.reconcile(run, { ...operator, dryRun: true })).repaired).toBe(0);
        expect((await host.runtime.runs.reconcile(run, { ...operator, dryRun: false })).repaired).toBe(1);
        expect(await stage.states(run)).toEqual({ run: 'Failed', a: 'TimedOut' });
        const log = await stage.store.auditLog({ runId: run, limit: 10 });
        const entity = (await stage.job(run, 'a')).id;
        expect([...log].reverse()).toMatchObject([
          { action: 'run.repair', actor: 'user:bob', outcome: 'denied', entity: run },
          {
            action: 'run.repair',
            actor: 'user:ops',
            outcome: 'allowed',
            entity,
            message: 'QueueTimeoutOverdue: stuck since noon',
          },
        ]);
        expect((await stage.facts(run)).at(-1)).toMatchObject({ actor: 'user:ops' });
      },
    );

    test('what the control plane repairs by itself is no manual action: facts name it, the audit does not', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a', { timeouts: { queue: '5s' } })]);
      await stage.pass(5_000);
      await host.runtime.tick();
      await heal(stage, host);
      expect((await stage.job(run, 'a')).state).toBe('TimedOut');
      expect(await stage.store.auditLog({ runId: run, limit: 10 })).toEqual([]);
    });

    test('a manual skip satisfies what waits for the job', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a'), job('b', { needs: ['a'] })]);
      await host.runtime.jobs.skip(run, (await stage.job(run, 'a')).id, { actor: user });
      expect(await stage.states(run)).toEqual({ run: 'Queued', a: 'Skipped', b: 'Eligible' });
    });

    test('000 §376.22: a gate with approvers takes their word only', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a', { needs: ['go'] }), gate('go', { approvers: ['user:boss'] })]);
      const { id } = await stage.gate(run, 'go');
      expect(await host.runtime.gates.decide(run, id, 'approve', { actor: user })).toMatchObject({
        code: 'NotAnApprover',
      });
      const boss = { actor: { id: 'user:boss', permissions: 'all' as const } };
      expect(await host.runtime.gates.decide(run, id, 'approve', boss)).toMatchObject({ outcome: 'accepted' });
    });
  });
}
