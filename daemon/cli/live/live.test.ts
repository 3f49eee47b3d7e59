import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Host, Stage } from '../../../conformance/testkit/index.ts';
import { openStage, user } from '../../../conformance/testkit/index.ts';
import type { RunAggregate, RunId } from '../../../machines/index.ts';
import { aggregateOf } from '../../../machines/index.ts';
import { gate, job } from '../../../machines/plan/index.ts';
import type { Store, StoredFact } from '../../../store/index.ts';
import { createMemoryStore, StoreUnavailable } from '../../../store/index.ts';
import { colorPaint, plainPaint } from '../output/paint.ts';
import { cut } from './cut.ts';
import { createFactLines } from './fact-lines.ts';
import { followRun } from './follow-run.ts';
import { picture } from './live-rows.ts';
import { symbolsFor } from './symbols.ts';
import { createWaitNotes } from './wait-notes.ts';

let stage: Stage;
let host: Host;
beforeEach(async () => {
  stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
  host = await stage.host();
});
afterEach(async () => await stage.close());

async function drawn(
  run: RunId,
  rowsMax = 40,
  steps: ReadonlyMap<string, string> = new Map(),
): Promise<readonly string[]> {
  const loaded = await stage.store.load(run);
  if (loaded === null) throw new Error('no such run');
  const look = { symbols: symbolsFor({}), paint: plainPaint, now: stage.time.now(), steps, rowsMax };
  return picture({ aggregate: aggregateOf(loaded), ...look }).map((line) => line.replace(/run_\w{26}/, 'RUN'));
}

async function lines(run: RunId): Promise<readonly string[]> {
  const shown: string[] = [];
  const lineOf = createFactLines(plainPaint);
  await followRun({
    store: stage.store,
    runId: run,
    after: 0,
    onFacts(facts, aggregate) {
      for (const fact of facts) {
        const line = lineOf(fact, aggregate);
        if (line !== null) shown.push(line.replace(/^\d\d:\d\d:\d\d {2}/, '').replace(/run_\w{26}/, 'RUN'));
      }
    },
    signal: AbortSignal.abort(),
  });
  return shown;
}

/** A matrix of four, a job that is tried again, a failure that is allowed, a gate that asks. */
async function busyRun(): Promise<RunId> {
  const run = await stage.create(host, [
    job('build'),
    job('test', { needs: ['build'], matrix: { axes: { n: [1, 2, 3, 4] } } }),
    job('flaky', { needs: ['build'], retry: { attempts: 2, backoff: '30s' } }),
    job('lint', { needs: ['build'], failureImpact: 'allowed' }),
    job('publish', { needs: ['release', 'test'] }),
    gate('release', { needs: ['build'] }),
  ]);
  const runner = await stage.runner(host, 'ada');
  await runner.succeed(await runner.take('build'));
  await runner.succeed(await runner.take('test[n=1]'));
  await runner.succeed(await runner.take('test[n=2]'));
  const third = await runner.take('test[n=3]');
  await runner.accept(third);
  await runner.start(third);
  await runner.failRunning(await runner.take('flaky'), { failureClass: 'TestFailure' });
  await runner.failRunning(await runner.take('lint'));
  return run;
}

describe('the picture of a run', () => {
  it('000 §317 counts jobs, groups a matrix, and tells an attempt that failed from a job that failed', async () => {
    const run = await busyRun();
    const { id } = await stage.job(run, 'test[n=3]');
    expect(await drawn(run, 40, new Map([[id, 'unit tests']]))).toMatchInlineSnapshot(`
      [
        "suite/plan  Running  0.0s  4/8 jobs, 1 running, 1 retrying, 1 failed  RUN",
        "  v build  Succeeded  0.0s",
        "  + test  2/4",
        "    * test[n=3]  Running  unit tests, 0.0s",
        "    o test[n=4]  Leased",
        "  ~ flaky  RetryWaiting  attempt 1 failed (TestFailure), job retrying in 30s",
        "  x lint  Failed  UserCommand, allowed",
        "  . publish  Pending",
        "  ? release  waits for a decision: forgeyard gate approve RUN/release",
      ]
    `);
  });

  it('in a small window what asks, works or failed stays, and the rest is counted', async () => {
    const run = await busyRun();
    const rows = await drawn(run, 7);
    expect(rows).toHaveLength(7);
    expect(rows.join('\n')).toMatch(/gate approve RUN\/release/);
    expect(rows.at(-1)).toMatch(/… \d+ more/);
  });

  it('500 jobs of a matrix are one line and those that run', async () => {
    const run = await stage.create(host, [
      job('w', { matrix: { axes: { n: Array.from({ length: 500 }, (_, n) => n) } } }),
    ]);
    expect(await drawn(run)).toEqual([expect.stringContaining('0/500 jobs'), '  + w  0/500']);
  });

  it('names from a plan cannot move the cursor', async () => {
    const run = await stage.create(host, [
      job('a', { condition: { reason: 'Policy', message: '\u001b[2J\u202eevil' } }),
    ]);
    expect((await drawn(run)).join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
    expect((await lines(run)).join('')).not.toMatch(/\p{Cc}|\p{Cf}/u);
  });
});

describe('the lines of a run', () => {
  it('say what happened, and what comes of it', async () => {
    const run = await busyRun();
    await host.runtime.runs.cancel(run, { actor: user });
    expect(await lines(run)).toMatchInlineSnapshot(`
      [
        "build  runs",
        "build  succeeded",
        "release  waits for a decision: forgeyard gate approve RUN/release",
        "test[n=1]  runs",
        "test[n=1]  succeeded",
        "test[n=2]  runs",
        "test[n=2]  succeeded",
        "test[n=3]  runs",
        "flaky  runs",
        "flaky  attempt failed, job retrying in 30s: TestFailure",
        "lint  runs",
        "lint  failed: UserCommand (allowed, dependents go on)",
        "run  is being ended: Cancelled",
        "test[n=3]  is asked to stop: Cancelled",
        "test[n=4]  cancelled: RunCancelled",
        "flaky  cancelled: RunCancelled",
        "publish  cancelled: RunCancelled",
        "release  gate closed: RunCancelled",
      ]
    `);
  });

  it('tell each attempt as it was, also when the history is told at the end', async () => {
    const run = await stage.create(host, [job('flaky', { retry: { attempts: 3, backoff: 'none' } })]);
    const runner = await stage.runner(host, 'ada');
    for (const message of ['first reason', 'second reason']) {
      const offer = await runner.take('flaky');
      await runner.accept(offer);
      await runner.start(offer);
      const failure = { failureClass: 'UserCommand', transient: false, exit: null, reports: [], log: null };
      const detail = { step: null, stepIndex: null, message };
      await runner.send({ type: 'fail', authority: offer.authority, ...failure, detail });
    }
    await runner.succeed(await runner.take('flaky'));
    expect(await lines(run)).toEqual([
      'flaky  runs',
      'flaky  attempt failed, job retrying at once: UserCommand, first reason',
      'flaky  runs, attempt 2',
      'flaky  attempt failed, job retrying at once: UserCommand, second reason',
      'flaky  runs, attempt 3',
      'flaky  succeeded',
      'run  succeeded',
    ]);
  });

  it('000 §318 a lost runner is infrastructure', async () => {
    const run = await stage.create(host, [job('a')]);
    const runner = await stage.runner(host, 'ada');
    const offer = await runner.take('a');
    await runner.accept(offer);
    await runner.start(offer);
    await host.runtime.start();
    await stage.pass(90_000);
    expect(await lines(run)).toMatchInlineSnapshot(`
      [
        "a  runs",
        "a  its runner was lost (infrastructure, not the workload)",
        "a  attempt failed, job retrying at once: infrastructure, RunnerLost",
      ]
    `);
  });
});

describe('following a run', () => {
  it('folds what others commit, page by page, to the end', async () => {
    const run = await stage.create(host, [job('a'), job('b', { needs: ['a'] })]);
    const seen: number[] = [];
    let latest: RunAggregate | null = null;
    const work = { done: false };
    const ended = followRun({
      store: stage.store,
      runId: run,
      after: 0,
      onFacts(facts: readonly StoredFact[], aggregate) {
        seen.push(...facts.map((fact) => fact.sequence));
        latest = aggregate;
        if (work.done) return;
        work.done = true;
        void finishBoth();
      },
      subscribe: (ring) => host.runtime.feed.onFacts(ring),
      signal: new AbortController().signal,
    });
    const finishBoth = async (): Promise<void> => {
      const runner = await stage.runner(host, 'ada');
      await runner.succeed(await runner.take('a'));
      await runner.succeed(await runner.take('b'));
    };
    expect((await ended)?.run.state).toBe('Succeeded');
    expect(seen).toEqual(seen.map((_, index) => index + 1));
    expect(latest).not.toBeNull();
  });

  it('a store that does not answer for a moment is asked again', async () => {
    const run = await stage.create(host, [job('a', { condition: false }), job('b')]);
    let refusals = 2;
    const flaky: Pick<Store, 'facts' | 'load'> = {
      load: (id) => stage.store.load(id),
      async facts(id, query) {
        if (query.after > 0 && refusals > 0) {
          refusals -= 1;
          if (refusals === 0) await host.runtime.runs.cancel(run, { actor: user });
          throw new StoreUnavailable('locked');
        }
        return await stage.store.facts(id, query);
      },
    };
    const options = { store: flaky, runId: run, after: 0, onFacts: () => undefined };
    expect((await followRun({ ...options, signal: new AbortController().signal }))?.run.state).toBe('Cancelled');
    expect(refusals).toBe(0);
  });

  it('a run that is not there ends at once', async () => {
    const run = await stage.create(host, [job('a')]);
    const other = run.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const isRunId = (text: string): text is RunId => text !== run;
    if (!isRunId(other)) throw new Error('the same id');
    const options = { store: stage.store, runId: other, after: 0, onFacts: () => undefined };
    expect(await followRun({ ...options, signal: new AbortController().signal })).toBeNull();
  });
});

describe('a wait for what no runner has', () => {
  it('is said once, and not while a runner may take the job', async () => {
    const run = await stage.create(host, [job('a', { capabilities: ['gpu'] }), job('b', { capabilities: ['linux'] })]);
    const told: string[] = [];
    const notes = createWaitNotes({
      sessions: async () => await stage.store.sessions({ live: true }),
      note: (line) => told.push(line.replace(/run_\w{26}/, 'RUN')),
    });
    const loaded = await stage.store.load(run);
    if (loaded === null) throw new Error('no such run');
    notes.show(aggregateOf(loaded));
    await notes.look();
    expect(told).toEqual([]);
    await stage.runner(host, 'ada', { capabilities: ['linux'] });
    await notes.look();
    await notes.look();
    expect(told).toEqual(['a  waits for a runner with gpu; none is connected (forgeyard run explain RUN)']);
  });
});

describe('cutting a line', () => {
  it('counts what is seen, keeps colour codes whole, and ends what they began', () => {
    expect(cut(colorPaint('red', 'abcdef'), 3)).toBe('\u001b[31mabc\u001b[39m');
    expect(cut('ab✔def', 4)).toBe('ab✔d');
    expect(cut('short', 80)).toBe('short');
  });
});
