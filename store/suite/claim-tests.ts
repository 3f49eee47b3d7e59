/** What workers take: eligible jobs, due timers, outbox batches. */

import type { Deadline } from '../../machines/index.ts';
import type { Bench } from './bench.ts';
import { creation, useBench } from './bench.ts';
import { id } from './ids.ts';
import { acceptStep, grantStep, rejectStep } from './job-steps.ts';
import { changeStep, claim, deadline, jobAt, timerStep } from './run-script.ts';
import type { MakeStore, SuiteRunner } from './subject.ts';

export function claimTests(runner: SuiteRunner, make: MakeStore): void {
  const test = useBench(runner, make);
  eligibleTests(runner, test);
  timerTests(runner, test);
  outboxTests(runner, test);
}

type Test = ReturnType<typeof useBench>;

function eligibleTests({ describe, expect }: SuiteRunner, test: Test): void {
  const names = async (bench: Bench, query: Partial<Parameters<Bench['store']['eligible']>[0]> = {}) =>
    (await bench.store.eligible({ capabilities: [], limit: 100, ...query })).map(
      ({ runId, node }) => `${runId}/${node}`,
    );

  describe('eligible jobs', () => {
    test('come by priority, then oldest first', async (bench) => {
      await bench.create({ name: 'old' });
      bench.advance(10);
      await bench.create({ name: 'urgent', priority: 5 });
      bench.advance(10);
      await bench.create({ name: 'new', nodes: [{}, {}] });
      await bench.create({ name: 'never', priority: -1 });
      expect(await names(bench)).toEqual(['urgent/node-0', 'old/node-0', 'new/node-0', 'new/node-1', 'never/node-0']);
      expect(await names(bench, { limit: 2 })).toEqual(['urgent/node-0', 'old/node-0']);
    });

    test('are only those whose capabilities are all offered', async (bench) => {
      const nodes = [{}, { capabilities: ['linux'] }, { capabilities: ['x64', 'linux'] }, { capabilities: ['gpu'] }];
      await bench.create({ nodes });
      expect(await names(bench)).toEqual(['run-1/node-0']);
      expect(await names(bench, { capabilities: ['linux', 'x64', 'arm'] })).toEqual([
        'run-1/node-0',
        'run-1/node-1',
        'run-1/node-2',
      ]);
      expect(await names(bench, { capabilities: ['linux', 'x64'], limit: 2 })).toEqual([
        'run-1/node-0',
        'run-1/node-1',
      ]);
    });

    test('of one run alone, where asked', async (bench) => {
      await bench.create({ name: 'other', priority: 9, nodes: [{}, {}] });
      await bench.create({ name: 'mine', nodes: [{}, { capabilities: ['linux'] }] });
      expect(await names(bench, { runId: id('mine'), capabilities: ['linux'] })).toEqual([
        'mine/node-0',
        'mine/node-1',
      ]);
      expect(await names(bench, { runId: id('mine'), limit: 0 })).toEqual([]);
      expect(await names(bench, { runId: id('nobody') })).toEqual([]);
    });

    test('leave when granted and return when refused, with who refused', async (bench) => {
      const rows = await bench.create({ nodes: [{ cacheKey: 'key' }, {}] });
      const granted = await bench.apply(grantStep(rows, { index: 0, now: bench.now() }));
      expect(await names(bench)).toEqual(['run-1/node-1']);
      expect(await names(bench, { runId: rows.run.id })).toEqual(['run-1/node-1']);
      await bench.apply(rejectStep(granted, { index: 0, now: bench.now() }));
      await bench.reopen();
      const [first] = await bench.store.eligible({ capabilities: [], limit: 1 });
      expect(first).toEqual({
        runId: rows.run.id,
        jobId: jobAt(rows, 0).id,
        node: 'node-0',
        priority: 0,
        eligibleAt: bench.now(),
        capabilities: [],
        refusedBy: [{ session: 'session-1', at: bench.now() }],
        cacheKey: 'key',
      });
    });

    test('follow a change of their run’s priority at once', async (bench) => {
      const many = Array.from({ length: 40 }, () => ({}));
      const rows = await bench.create({
        name: 'slow',
        nodes: [...many, { needs: [{ upstream: 0, condition: 'success', required: true }] }],
      });
      await bench.create({ name: 'usual' });
      const raised = await bench.apply(
        changeStep(rows, { run: { priority: 3, version: rows.run.version + 1 } }, bench.now(), {
          code: 'PriorityRequested',
        }),
      );
      expect(await names(bench, { limit: 2 })).toEqual(['slow/node-0', 'slow/node-1']);
      expect((await names(bench)).at(-1)).toBe('usual/node-0');
      const last = jobAt(raised, 40);
      const eligible = { ...last, state: 'Eligible', eligibleAt: bench.now(), version: 2 } as const;
      await bench.apply(changeStep(raised, { jobs: [eligible] }, bench.now()));
      const [, found] = await bench.store.eligible({ capabilities: [], limit: 2, runId: rows.run.id });
      expect(found?.priority).toBe(3);
      expect((await names(bench))[40]).toBe('slow/node-40');
    });

    test('stay in order while hundreds come and go', async (bench) => {
      let rows = await bench.create({ nodes: Array.from({ length: 120 }, () => ({})) });
      for (let index = 0; index < 110; index += 1) {
        // The first sixty leave in order, so that the front of every list moves while it is read.
        if (index < 60 || index % 3 !== 0) rows = await bench.apply(grantStep(rows, { index, now: bench.now() }));
        if (index % 10 === 0) await bench.store.eligible({ capabilities: [], limit: 1 });
      }
      bench.advance(1);
      await bench.create({ name: 'later' });
      const expected = [
        ...Array.from({ length: 17 }, (_, place) => 60 + place * 3),
        ...Array.from({ length: 10 }, (_, place) => 110 + place),
      ];
      expect(await names(bench)).toEqual([...expected.map((index) => `run-1/node-${index}`), 'later/node-0']);
      expect(await names(bench, { runId: rows.run.id, limit: 2 })).toEqual(['run-1/node-60', 'run-1/node-63']);
    });
  });
}

function timerTests({ describe, expect }: SuiteRunner, test: Test): void {
  const take = async (bench: Bench, token: string, limit = 10) =>
    (await bench.store.claimTimers({ limit, claimMs: 1_000, token })).map(({ deadline: { key } }) => key);
  const states = async (bench: Bench) =>
    Object.fromEntries((await bench.store.timers(id('run-1'))).map(({ key, state }) => [key, state]));

  describe('timers', () => {
    test('are claimed when due, oldest first, once, also by another handle (000 §376.20, 003 §303.13)', async (bench) => {
      const rows = await bench.create();
      const at = bench.now();
      const set = [deadline('a', at + 30), deadline('c', at + 10), deadline('b', at + 20)];
      await bench.apply(timerStep(rows, { set }, at));
      expect(await bench.store.nextTimerAt()).toBe(at + 10);
      expect(await take(bench, 'early')).toEqual([]);
      bench.advance(20);
      await bench.reopen();
      expect(await take(bench, 'one', 1)).toEqual(['c']);
      expect(await take(bench, 'two')).toEqual(['b']);
      expect(await take(bench, 'three')).toEqual([]);
      expect(await bench.store.nextTimerAt()).toBe(at + 30);
      const [row] = await bench.store.timers(rows.run.id);
      expect(row).toEqual({ runId: rows.run.id, key: 'c', kind: 'retry', dueAt: at + 10, state: 'Claimed' });
    });

    test('carry what they guard', async (bench) => {
      const rows = await bench.create();
      const set: Deadline = {
        ...deadline('key', bench.now(), 'job-7'),
        kind: 'execution',
        attempt: id('attempt-7'),
        lease: id('lease-7'),
      };
      await bench.apply(timerStep(rows, { set: [set] }, bench.now()));
      expect(await bench.store.claimTimers({ limit: 1, claimMs: 5, token: 't' })).toEqual([
        { runId: rows.run.id, token: 't', deadline: set },
      ]);
    });

    test('whose claim ran out are claimed again; the first claimant settles nothing any more', async (bench) => {
      const rows = await bench.apply(
        timerStep(await bench.create(), { set: [deadline('a', bench.now())] }, bench.now()),
      );
      expect(await take(bench, 'one')).toEqual(['a']);
      bench.advance(999);
      expect(await take(bench, 'two')).toEqual([]);
      bench.advance(1);
      expect(await take(bench, 'two')).toEqual(['a']);
      await bench.store.settleTimers([{ runId: rows.run.id, key: 'a', token: 'one', rearmAt: null }]);
      expect(await states(bench)).toEqual({ a: 'Claimed' });
      await bench.apply(timerStep(rows, { fired: [claim('a', 'one')] }, bench.now()));
      expect(await states(bench)).toEqual({ a: 'Claimed' });
      await bench.apply(timerStep(rows, { fired: [claim('a', 'two')] }, bench.now()));
      expect(await states(bench)).toEqual({ a: 'Fired' });
      bench.advance(10_000);
      expect(await take(bench, 'three')).toEqual([]);
      expect(await bench.store.nextTimerAt()).toBe(null);
    });

    test('are settled as fired or armed anew without a commit', async (bench) => {
      const rows = await bench.create();
      const at = bench.now();
      await bench.apply(timerStep(rows, { set: [deadline('a', at), deadline('b', at)] }, at));
      await take(bench, 'one');
      const settled = { runId: rows.run.id, token: 'one' };
      await bench.store.settleTimers([
        { ...settled, key: 'a', rearmAt: null },
        { ...settled, key: 'b', rearmAt: at + 50 },
      ]);
      expect(await states(bench)).toEqual({ a: 'Fired', b: 'Pending' });
      expect(await bench.store.nextTimerAt()).toBe(at + 50);
      bench.advance(50);
      expect(await take(bench, 'two')).toEqual(['b']);
    });

    test('are moved by setting them again, claimed ones too; a cancelled one may be set anew', async (bench) => {
      const at = bench.now();
      const rows = await bench.apply(
        timerStep(await bench.create(), { set: [deadline('a', at), deadline('b', at)] }, at),
      );
      await take(bench, 'one');
      await bench.apply(timerStep(rows, { set: [deadline('a', at + 100)], cancel: ['b', 'unheard-of'] }, at));
      expect(await states(bench)).toEqual({ a: 'Pending', b: 'Cancelled' });
      await bench.store.settleTimers([{ runId: rows.run.id, key: 'a', token: 'one', rearmAt: null }]);
      expect(await states(bench)).toEqual({ a: 'Pending', b: 'Cancelled' });
      bench.advance(2_000);
      expect(await take(bench, 'two')).toEqual(['a']);
      await bench.apply(
        timerStep(
          rows,
          { set: [deadline('a', at + 3_000), deadline('b', at + 2_500)], fired: [claim('a', 'two')] },
          at,
        ),
      );
      expect(await states(bench)).toEqual({ a: 'Pending', b: 'Pending' });
      expect(await bench.store.nextTimerAt()).toBe(at + 2_500);
    });

    test('of one key in two runs are two timers', async (bench) => {
      const at = bench.now();
      const one = await bench.create({ name: 'one' });
      const two = await bench.create({ name: 'two' });
      await bench.apply(timerStep(one, { set: [deadline('a', at)] }, at));
      await bench.apply(timerStep(two, { set: [deadline('a', at)] }, at));
      await bench.apply(timerStep(one, { cancel: ['a'] }, at));
      expect((await bench.store.claimTimers({ limit: 9, claimMs: 9, token: 't' })).map(({ runId }) => runId)).toEqual([
        'two',
      ]);
    });
  });
}

function outboxTests({ describe, expect }: SuiteRunner, test: Test): void {
  const take = async (bench: Bench, token: string, limit = 10) =>
    (await bench.store.claimOutbox({ limit, claimMs: 1_000, token })).map(
      ({ runId, first, last }) => `${runId} ${first}-${last}`,
    );

  describe('outbox', () => {
    test('hands out a run’s commits in order, the next one only when the last is settled (003 §303.10)', async (bench) => {
      const rows = await bench.apply(grantStep(await bench.create(), { index: 0, now: bench.now() }));
      await bench.apply(acceptStep(rows, { index: 0, now: bench.now() }));
      await bench.reopen();
      const [batch] = await bench.store.claimOutbox({ limit: 10, claimMs: 1_000, token: 'one' });
      const [created] = await bench.store.facts(rows.run.id, { after: 0, limit: 1 });
      expect(batch).toEqual({ runId: rows.run.id, first: 1, last: 1, token: 'one', attempts: 1, facts: [created] });
      expect(await take(bench, 'two')).toEqual([]);
      await bench.store.settleOutbox([{ runId: rows.run.id, first: 1, token: 'one', retryAt: null }]);
      expect(await take(bench, 'two')).toEqual(['run-1 2-4']);
      await bench.store.settleOutbox([{ runId: rows.run.id, first: 2, token: 'two', retryAt: null }]);
      expect(await take(bench, 'three')).toEqual(['run-1 5-7']);
      await bench.store.settleOutbox([{ runId: rows.run.id, first: 5, token: 'three', retryAt: null }]);
      expect(await take(bench, 'four')).toEqual([]);
    });

    test('runs do not wait for each other', async (bench) => {
      for (const name of ['a', 'b', 'c']) await bench.create({ name });
      expect((await take(bench, 'one', 2)).length).toBe(2);
      expect((await take(bench, 'two')).length).toBe(1);
    });

    test('a claim that ran out is taken over, and its first owner settles nothing', async (bench) => {
      const rows = await bench.create();
      await take(bench, 'one');
      bench.advance(1_000);
      expect(await take(bench, 'two')).toEqual(['run-1 1-1']);
      await bench.store.settleOutbox([{ runId: rows.run.id, first: 1, token: 'one', retryAt: null }]);
      bench.advance(1_000);
      const [again] = await bench.store.claimOutbox({ limit: 1, claimMs: 1_000, token: 'three' });
      expect(again?.attempts).toBe(3);
    });

    test('a failed delivery comes again at its time, and holds back what follows', async (bench) => {
      const rows = await bench.apply(grantStep(await bench.create(), { index: 0, now: bench.now() }));
      await take(bench, 'one');
      await bench.store.settleOutbox([{ runId: rows.run.id, first: 1, token: 'one', retryAt: bench.now() + 500 }]);
      expect(await take(bench, 'two')).toEqual([]);
      bench.advance(500);
      expect(await take(bench, 'two')).toEqual(['run-1 1-1']);
    });

    test('a commit without facts sends nothing; facts after everything was delivered are sent again', async (bench) => {
      const rows = await bench.create();
      await take(bench, 'one');
      await bench.store.settleOutbox([{ runId: rows.run.id, first: 1, token: 'one', retryAt: null }]);
      await bench.apply(changeStep(rows, { message: 'no-op' }, bench.now()));
      expect(await take(bench, 'two')).toEqual([]);
      await bench.apply(grantStep(rows, { index: 0, now: bench.now() }));
      expect(await take(bench, 'two')).toEqual(['run-1 2-4']);
    });

    test('long backlogs drain in order', async (bench) => {
      const { rows, commit } = creation({ nodes: Array.from({ length: 30 }, () => ({})) }, bench.now());
      await bench.apply({ rows, commit });
      let current = rows;
      for (let index = 0; index < 30; index += 1)
        current = await bench.apply(grantStep(current, { index, now: bench.now() }));
      let expected = 1;
      for (let place = 0; place < 31; place += 1) {
        const [batch] = await bench.store.claimOutbox({ limit: 5, claimMs: 1_000, token: `claim-${place}` });
        expect(batch?.first).toBe(expected);
        expected = (batch?.last ?? 0) + 1;
        await bench.store.settleOutbox([
          { runId: rows.run.id, first: batch?.first ?? 0, token: `claim-${place}`, retryAt: null },
        ]);
      }
      expect(await take(bench, 'rest')).toEqual([]);
    });
  });
}
