/** S6 and the reads: history, feed, pages, searches, and the upkeep of a store. */
import type { EventId } from '../../machines/index.ts';
import type { AuditEntry } from '../contract.ts';
import type { Bench } from './bench.ts';
import { useBench } from './bench.ts';
import type { RunRows } from './change.ts';
import { id } from './ids.ts';
import { completeStep, expireStep, grantStep, phaseStep, rejectStep } from './job-steps.ts';
import { aDigest } from './rows.ts';
import { changeStep, jobAt } from './run-script.ts';
import type { MakeStore, SuiteRunner } from './subject.ts';

type Test = ReturnType<typeof useBench>;

export function readTests(runner: SuiteRunner, make: MakeStore): void {
  const test = useBench(runner, make);
  historyTests(runner, test);
  pageTests(runner, test);
  upkeepTests(runner, test);
}

async function completed(bench: Bench, name: string): Promise<RunRows> {
  let rows = await bench.createHeld({ name });
  rows = await bench.apply(phaseStep(rows, { index: 0, now: bench.now() }));
  rows = await bench.apply(phaseStep(rows, { index: 0, now: bench.now() }));
  return bench.apply(completeStep(rows, { index: 0, now: bench.now() }));
}

function historyTests({ describe, expect }: SuiteRunner, test: Test): void {
  describe('history', () => {
    test('facts are numbered from 1 without a gap and come back word for word (000 §302)', async (bench) => {
      const step = grantStep(await bench.create(), { index: 0, now: bench.now() });
      await bench.apply(step);
      await bench.reopen();
      const facts = await bench.store.facts(step.rows.run.id, { after: 0, limit: 100 });
      expect(facts.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4]);
      expect(facts.slice(1)).toEqual(step.commit.facts);
      expect(
        (await bench.store.facts(step.rows.run.id, { after: 2, limit: 1 })).map(({ sequence }) => sequence),
      ).toEqual([3]);
      expect(await bench.store.facts(step.rows.run.id, { after: 4, limit: 9 })).toEqual([]);
      expect(await bench.store.facts(id('nobody'), { after: 0, limit: 9 })).toEqual([]);
    });

    test('a commit with a gap or a foreign fact is refused', async (bench) => {
      await bench.create({ name: 'another' });
      const rows = await bench.create();
      const { commit } = grantStep(rows, { index: 0, now: bench.now() });
      const shifted = commit.facts.map((fact) => ({ ...fact, sequence: fact.sequence + 1 }));
      const foreign = commit.facts.map((fact) => ({ ...fact, runId: id<typeof fact.runId>('another') }));
      for (const facts of [shifted, foreign, commit.facts.slice(1), [...commit.facts].reverse()]) {
        expect((await bench.commit({ rows, commit: { ...commit, facts } })).kind).toBe('failed');
      }
    });

    test('the feed gives every fact once, each run in order, and goes on where it stopped (000 §302)', async (bench) => {
      let one = await bench.create({ name: 'one', nodes: [{}, {}] });
      const two = await bench.create({ name: 'two' });
      one = await bench.apply(grantStep(one, { index: 0, now: bench.now() }));
      await bench.apply(grantStep(two, { index: 0, now: bench.now() }));
      await bench.apply(grantStep(one, { index: 1, now: bench.now() }));
      const seen: string[] = [];
      let after = 0;
      for (
        let page = await bench.store.feed({ after, limit: 3 });
        page.next !== null;
        page = await bench.store.feed({ after, limit: 3 })
      ) {
        seen.push(...page.items.map(({ runId, sequence }) => `${runId}:${sequence}`));
        after = page.next;
      }
      expect(seen).toEqual([
        'one:1',
        'two:1',
        'one:2',
        'one:3',
        'one:4',
        'two:2',
        'two:3',
        'two:4',
        'one:5',
        'one:6',
        'one:7',
      ]);
      await bench.create({ name: 'three' });
      expect((await bench.store.feed({ after, limit: 3 })).items.map(({ runId }) => runId)).toEqual(['three']);
    });

    test('attempts and leases of a job are all kept, current or not (000 §376.28)', async (bench) => {
      let rows = await bench.create({ nodes: [{}, {}] });
      rows = await bench.apply(grantStep(rows, { index: 0, now: bench.now() }));
      rows = await bench.apply(rejectStep(rows, { index: 0, now: bench.now() }));
      rows = await bench.apply(grantStep(rows, { index: 0, now: bench.now() }));
      rows = await bench.apply(grantStep(rows, { index: 1, now: bench.now() }));
      const { store } = bench;
      const runId = rows.run.id;
      const job = jobAt(rows, 0).id;
      expect((await store.attempts(runId, {})).map(({ jobIndex, number }) => [jobIndex, number])).toEqual([
        [0, 1],
        [0, 2],
        [1, 1],
      ]);
      expect((await store.attempts(runId, { job })).map(({ number, state }) => [number, state])).toEqual([
        [1, 'Rejected'],
        [2, 'Leased'],
      ]);
      const [first] = await store.attempts(runId, { job });
      expect(await store.attempts(runId, { ids: [first?.id ?? id('')] })).toEqual([first]);
      expect(await store.attempts(runId, { job: id('nobody') })).toEqual([]);
      expect((await store.leases(runId, {})).map(({ jobIndex, epoch }) => [jobIndex, epoch])).toEqual([
        [0, 2],
        [1, 1],
      ]);
      expect((await store.leases(runId, { job })).map(({ epoch }) => epoch)).toEqual([1, 2]);
      expect((await store.leases(runId, { job, live: true })).map(({ epoch }) => epoch)).toEqual([2]);
      expect((await store.leases(runId, { live: false })).map(({ epoch }) => epoch)).toEqual([1]);
    });

    test('the audit log keeps what commits and services write, newest first, once', async (bench) => {
      const entry = (name: string, runId: AuditEntry['runId']): AuditEntry => ({
        id: id<EventId>(name),
        at: bench.now(),
        actor: 'user:ann',
        action: 'job.skip',
        runId,
        entity: 'job-1',
        outcome: 'allowed',
        message: null,
      });
      const rows = await bench.create();
      const step = grantStep(rows, { index: 0, now: bench.now() });
      await bench.apply({ rows: step.rows, commit: { ...step.commit, audit: [entry('in-commit', rows.run.id)] } });
      await bench.store.appendAudit(entry('alone', null));
      await bench.store.appendAudit(entry('alone', null));
      await bench.reopen();
      expect(await bench.store.auditLog({ limit: 9 })).toEqual([entry('alone', null), entry('in-commit', rows.run.id)]);
      expect(await bench.store.auditLog({ runId: rows.run.id, limit: 9 })).toEqual([entry('in-commit', rows.run.id)]);
      expect((await bench.store.auditLog({ limit: 1 })).length).toBe(1);
    });
  });
}

function pageTests({ describe, expect }: SuiteRunner, test: Test): void {
  describe('lists', () => {
    test('of runs are newest first, and pages neither skip nor repeat', async (bench) => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) {
        if (name !== 'c') bench.advance(1);
        await bench.create({ name });
      }
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<Bench['store']['runs']>> = await bench.store.runs({}, { limit: 2, cursor });
        seen.push(...page.items.map((run) => run.id));
        cursor = page.next;
        // A run that comes in between belongs before the first page.
        if (seen.length === 2) await bench.create({ name: 'z' });
      } while (cursor !== null);
      expect(seen).toEqual(['e', 'd', 'c', 'b', 'a']);
    });

    test('a page that ends exactly at the end has no next one', async (bench) => {
      await bench.create({ name: 'a' });
      await bench.create({ name: 'b' });
      expect((await bench.store.runs({}, { limit: 2, cursor: null })).next).toBe(null);
      expect((await bench.store.runs({}, { limit: 1, cursor: null })).items.length).toBe(1);
    });

    test('of runs are filtered by project, state, group and id', async (bench) => {
      await bench.create({ name: 'a1', project: 'a', concurrencyGroup: 'main' });
      await bench.create({ name: 'b1', project: 'b', concurrencyGroup: 'main' });
      await bench.createHeld({ name: 'a2', project: 'a' });
      const ids = async (filter: Parameters<Bench['store']['runs']>[0]) =>
        (await bench.store.runs(filter, { limit: 9, cursor: null })).items.map((run) => run.id);
      expect(await ids({ project: 'a' })).toEqual(['a2', 'a1']);
      expect(await ids({ states: ['Queued', 'Cancelling'] })).toEqual(['b1', 'a1']);
      expect(await ids({ states: [] })).toEqual([]);
      expect(await ids({ project: 'a', concurrencyGroup: 'main' })).toEqual(['a1']);
      expect(await ids({ idPrefix: 'a' })).toEqual(['a2', 'a1']);
      expect(await ids({ idPrefix: 'a%' })).toEqual([]);
    });

    test('jobs and gates are found by the beginning of their id', async (bench) => {
      await bench.create({ name: 'a', nodes: [{}, { kind: 'gate' }, {}] });
      const rows = await bench.create({ name: 'b' });
      const { store } = bench;
      expect((await store.findJobs({ idPrefix: 'a.job', limit: 9 })).map((job) => job.id)).toEqual([
        'a.job-2',
        'a.job-0',
      ]);
      expect((await store.findJobs({ idPrefix: '', limit: 2 })).map((job) => job.id)).toEqual(['b.job-0', 'a.job-2']);
      expect(await store.findJobs({ idPrefix: 'b.job-0', limit: 2 })).toEqual([jobAt(rows, 0)]);
      expect((await store.findGates({ idPrefix: 'a.', limit: 2 })).map((gate) => gate.node)).toEqual(['node-1']);
      expect(await store.findGates({ idPrefix: '_', limit: 2 })).toEqual([]);
    });

    test('counts say how many jobs stand where', async (bench) => {
      const rows = await bench.create({ nodes: [{}, {}, { kind: 'gate' }, {}] });
      await bench.apply(grantStep(rows, { index: 1, now: bench.now() }));
      const counts = await bench.store.counts([rows.run.id, id('nobody')]);
      expect([...counts]).toEqual([[rows.run.id, { jobs: 3, byState: { Eligible: 2, Leased: 1 } }]]);
    });
  });
}

function upkeepTests({ describe, expect }: SuiteRunner, test: Test): void {
  describe('heartbeat', () => {
    test('grants one credit for one gap, to whoever beats first', async (bench) => {
      const { store } = bench;
      const start = bench.now();
      expect(await store.heartbeat({ gapMs: 100 })).toEqual({ creditSequence: 1, lastBeatAt: start });
      bench.advance(100);
      expect((await store.heartbeat({ gapMs: 100 })).creditSequence).toBe(1);
      bench.advance(101);
      const both = await Promise.all([store.heartbeat({ gapMs: 100 }), store.heartbeat({ gapMs: 100 })]);
      expect(both).toEqual([
        { creditSequence: 2, lastBeatAt: start + 201 },
        { creditSequence: 2, lastBeatAt: start + 201 },
      ]);
      await bench.reopen();
      expect(await bench.store.credits(0)).toEqual([
        { sequence: 1, gapStart: start, gapMs: 0 },
        { sequence: 2, gapStart: start + 100, gapMs: 101 },
      ]);
      expect((await bench.store.credits(1)).map(({ sequence }) => sequence)).toEqual([2]);
    });

    test('a clock that steps back grants nothing and moves nothing back', async (bench) => {
      await bench.store.heartbeat({ gapMs: 100 });
      const at = bench.now();
      bench.advance(-5_000);
      expect(await bench.store.heartbeat({ gapMs: 100 })).toEqual({ creditSequence: 1, lastBeatAt: at });
    });
  });

  describe('upkeep', () => {
    test('scans find what reconcilers repair, in pages', async (bench) => {
      await bench.beat(100_000);
      const done = await completed(bench, 'done');
      const held = await bench.createHeld({ name: 'lost', nodes: [{}, {}, {}] });
      bench.advance(30_000);
      let rows = await bench.apply(expireStep(held, { index: 0, now: bench.now(), creditSequence: 1 }));
      rows = await bench.apply(grantStep(rows, { index: 1, now: bench.now() }));
      const waiting = {
        ...jobAt(rows, 2),
        state: 'RetryWaiting',
        retryNotBefore: bench.now() + 10,
        version: 9,
      } as const;
      rows = await bench.apply(changeStep(rows, { jobs: [waiting] }, bench.now()));
      await bench.create({ name: 'young' });
      const scan = async (
        kind: Parameters<Bench['store']['scan']>[0]['kind'],
        limit = 10,
        cursor: string | null = null,
      ) => {
        const page = await bench.store.scan({ kind, cursor, limit });
        return { found: page.items.map(({ entity }) => String(entity)), next: page.next };
      };
      const first = await scan('active-runs', 1);
      expect(first.found).toEqual(['lost']);
      expect(await scan('active-runs', 1, first.next)).toEqual({ found: ['young'], next: null });
      expect((await scan('lost-jobs')).found).toEqual([String(jobAt(rows, 0).id)]);
      expect((await scan('live-leases')).found).toEqual([String(jobAt(rows, 1).currentLease)]);
      expect((await scan('due-retries')).found).toEqual([]);
      bench.advance(10);
      expect((await scan('due-retries')).found).toEqual([String(waiting.id)]);
      expect(done.run.state).toBe('Succeeded');
    });

    test('a scan goes through a run of many, page by page, each once', async (bench) => {
      let rows = await bench.create({ nodes: Array.from({ length: 12 }, () => ({})) });
      for (let index = 0; index < 12; index += 1)
        rows = await bench.apply(grantStep(rows, { index, now: bench.now() }));
      await bench.createHeld({ name: 'run-2' });
      const found: string[] = [];
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<Bench['store']['scan']>> = await bench.store.scan({
          kind: 'live-leases',
          cursor,
          limit: 5,
        });
        found.push(...page.items.map(({ entity }) => entity));
        cursor = page.next;
      } while (cursor !== null);
      expect(found.length).toBe(13);
      expect(new Set(found).size).toBe(13);
    });

    test('a reconciler finds its progress again', async (bench) => {
      const progress = { id: 'lease', cursor: 'run/9', startedAt: 5, completedAt: null, lastError: 'no' };
      expect(await bench.store.reconcileProgress('lease')).toBe(null);
      await bench.store.saveReconcileProgress(progress);
      await bench.store.saveReconcileProgress({ ...progress, cursor: null });
      await bench.reopen();
      expect(await bench.store.reconcileProgress('lease')).toEqual({ ...progress, cursor: null });
    });

    test('a cache entry is found by project, key and spec, replaced, and forgotten (000 §207)', async (bench) => {
      const key = { project: 'p', key: 'k', specDigest: aDigest('spec') };
      const outputs = [{ path: 'out', digest: aDigest('file'), bytes: 1, mode: 0o600 }];
      const entry = {
        ...key,
        outputs,
        runId: id<RunRows['run']['id']>('r'),
        jobId: id<ReturnType<typeof jobAt>['id']>('j'),
        createdAt: 7,
      };
      await bench.store.cachePut(entry);
      await bench.store.cachePut({ ...entry, createdAt: 8 });
      await bench.reopen();
      expect(await bench.store.cacheLookup(key)).toEqual({ ...entry, createdAt: 8 });
      for (const other of [
        { ...key, project: 'q' },
        { ...key, key: 'l' },
        { ...key, specDigest: aDigest('other') },
      ]) {
        expect(await bench.store.cacheLookup(other)).toBe(null);
      }
      await bench.store.cacheInvalidate(key);
      expect(await bench.store.cacheLookup(key)).toBe(null);
    });

    test('every digest a row refers to is named once', async (bench) => {
      const rows = await completed(bench, 'done');
      const outputs = [{ path: 'out', digest: aDigest('cached'), bytes: 1, mode: 0o600 }];
      await bench.store.cachePut({
        project: 'p',
        key: 'k',
        specDigest: aDigest('spec'),
        outputs,
        runId: rows.run.id,
        jobId: jobAt(rows, 0).id,
        createdAt: 1,
      });
      const found: string[] = [];
      for await (const digest of bench.store.referencedDigests()) found.push(digest);
      expect(found.sort()).toEqual([aDigest('cached'), aDigest('out-done.job-0')].sort());
    });

    test('a sound store has no problems and counts what it holds', async (bench) => {
      await completed(bench, 'done');
      await bench.createHeld({ name: 'held' });
      const { problems, runs, facts } = await bench.store.check();
      expect([problems, runs, facts]).toEqual([[], 2, 1 + 3 + 3 + 1 + 1 + 4 + 1 + 3 + 3]);
    });
  });
}
