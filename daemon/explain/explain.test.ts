import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Host, Stage } from '../../conformance/testkit/index.ts';
import { openStage, user } from '../../conformance/testkit/index.ts';
import type { RunId } from '../../machines/index.ts';
import { gate, job } from '../../machines/plan/index.ts';
import { createMemoryStore } from '../../store/index.ts';
import type { Explanation } from './index.ts';
import { explainJob, explainRun } from './index.ts';

let stage: Stage;
let host: Host;
beforeEach(async () => {
  stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
  host = await stage.host();
});
afterEach(async () => await stage.close());

async function rows(run: RunId) {
  const loaded = await stage.store.load(run);
  if (loaded === null) throw new Error('no such run');
  return { loaded, now: stage.time.now(), sessions: await stage.store.sessions({ live: true }) };
}

async function about(run: RunId, name: string): Promise<Explanation> {
  const row = await stage.job(run, name);
  return explainJob(row, { ...(await rows(run)), attempts: await stage.attempts(run, name), ahead: 0 });
}

/** Ids and clock times differ from place to place; the words do not. */
function text({ subject, state, because, next }: Explanation): string {
  const lines = [`${subject}: ${state}`, ...because.map((line) => `  ${line}`), ...next.map((line) => `  -> ${line}`)];
  return lines
    .join('\n')
    .replace(/run_\w{26}/g, 'RUN')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME');
}
const explained = async (run: RunId, name: string): Promise<string> => text(await about(run, name));

describe('000 §314 explain a job', () => {
  it('Pending: names each need that is open, and what is next on the way to it', async () => {
    const run = await stage.create(host, [
      job('a'),
      job('b', { needs: ['a'] }),
      job('c', { needs: ['b', { job: 'a', condition: 'always' }] }),
    ]);
    expect(await explained(run, 'c')).toMatchInlineSnapshot(`
      "job c: Pending
        waits for job b to succeed: it is Pending
        waits for job a to end: it is Eligible
        -> job a has to end (Eligible): forgeyard job explain RUN/a"
    `);
  });

  it('Pending behind an open gate: says who is waited for, and how to decide', async () => {
    const run = await stage.create(host, [job('deploy', { needs: ['ok'] }), gate('ok', { expiry: '1h' })]);
    await stage.pass(60_000);
    expect(await explained(run, 'deploy')).toMatchInlineSnapshot(`
      "job deploy: Pending
        waits for gate ok to be approved: it waits for a decision since 1m 00s
        -> forgeyard gate approve RUN/ok (it expires in 59m 00s)"
    `);
  });

  it('Eligible without any runner, and with one that lacks a capability', async () => {
    const run = await stage.create(host, [job('a', { capabilities: ['gpu', 'linux'], timeouts: { queue: '1h' } })]);
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: Eligible
        ready for 0.0s, and no runner has taken it yet
        no runner is connected
        -> connect a runner, e.g. forgeyard run watch --resume RUN
        -> it times out in 1h 00m if nobody takes it"
    `);
    await stage.runner(host, 'ada', { capabilities: ['linux'] });
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: Eligible
        ready for 0.0s, and no runner has taken it yet
        no connected runner has gpu
        -> connect a runner that has it: forgeyard run watch --resume RUN --capability gpu
        -> it times out in 1h 00m if nobody takes it"
    `);
  });

  it('Eligible with a runner that could take it: its place in the queue', async () => {
    const run = await stage.create(host, [job('a')]);
    await stage.runner(host, 'ada', { slots: 2 });
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: Eligible
        ready for 0.0s, and no runner has taken it yet
        one runner could take it, with 2 slots together
        it is the next in the queue
        -> a slot becomes free
        -> forgeyard run priority RUN NUMBER moves the run in the queue"
    `);
  });

  it('RetryWaiting: the attempt failed, the job did not', async () => {
    const run = await stage.create(host, [job('a', { retry: { attempts: 3, backoff: '30s' } })]);
    const runner = await stage.runner(host, 'ada');
    await runner.failRunning(await runner.take('a'), { failureClass: 'TestFailure' });
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: RetryWaiting
        attempt 1 ended Failed (TestFailure, exit code 1); the job itself has not failed
        used 1 of 3 attempts of the work, and 0 of 3 infrastructure retries
        -> the next attempt may begin in 30s (TIME)"
    `);
  });

  it('Running, then asked to stop', async () => {
    const run = await stage.create(host, [job('a', { timeouts: { execution: '5m' } })]);
    const runner = await stage.runner(host, 'ada');
    const offer = await runner.take('a');
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: Leased
        it was offered to ada
        -> the runner accepts within 10s, or it goes back into the queue"
    `);
    await runner.accept(offer);
    await runner.start(offer);
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: Running
        ada runs attempt 1 since 0.0s
        its lease is renewed until TIME at least
        -> it times out in 5m 00s"
    `);
    await host.runtime.runs.cancel(run, { actor: user });
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: Running
        ada runs attempt 1 since 0.0s
        its lease is renewed until TIME at least
        it was asked to stop (Cancelled): Somebody cancelled the run.
        -> it stops, or is given up in 10s"
    `);
  });

  it('Running on a runner that is gone: it will count as lost', async () => {
    const run = await stage.create(host, [job('a')]);
    const runner = await stage.runner(host, 'ada');
    const offer = await runner.take('a');
    await runner.accept(offer);
    stage.outage(120_000);
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: Preparing
        ada prepares attempt 1 since 2m 00s
        its lease ran out 1m 30s ago
        -> it counts as lost and is tried again, as soon as a process carries the run
        -> forgeyard run watch --resume RUN carries it here"
    `);
  });

  it('Failed: why, and why it is not tried again; what was skipped because of it names the root', async () => {
    const run = await stage.create(host, [job('a'), job('b', { needs: ['a'] }), job('c', { needs: ['b'] })]);
    const runner = await stage.runner(host, 'ada');
    await runner.failRunning(await runner.take('a'), { failureClass: 'UserCommand' });
    await stage.settle();
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: Failed
        attempt 1 ended Failed (UserCommand, exit code 1)
        the plan allows one attempt of the work
        -> forgeyard job logs RUN/a
        -> forgeyard run retry RUN starts the plan again"
    `);
    expect(await explained(run, 'c')).toMatchInlineSnapshot(`
      "job c: Skipped
        UpstreamFailed: A job or gate it needs failed; the root is named.
        the root is job a, which is Failed
        this skip does not satisfy: what needs it is skipped too, and the run cannot succeed
        -> forgeyard job explain RUN/a
        -> forgeyard run retry RUN starts the plan again"
    `);
    expect(text(explainRun(await rows(run)))).toMatchInlineSnapshot(`
      "run RUN: Failed
        RequiredJobFailed: Something that blocks the run failed.
        job a is Failed: UserCommand
        job b is Skipped: UpstreamFailed (a)
        job c is Skipped: UpstreamFailed (a)
        -> forgeyard job explain RUN/a
        -> forgeyard run retry RUN starts the plan again"
    `);
  });

  it('Skipped in a way that satisfies, and Cancelled', async () => {
    const run = await stage.create(host, [job('a', { condition: false }), job('b')]);
    await host.runtime.runs.cancel(run, { actor: user, message: 'enough' });
    expect(await explained(run, 'a')).toMatchInlineSnapshot(`
      "job a: Skipped
        ConditionFalse: The condition of the job is false in the plan.
        this skip satisfies: what needs it goes on"
    `);
    expect(await explained(run, 'b')).toMatchInlineSnapshot(`
      "job b: Cancelled
        RunCancelled: Somebody cancelled the run.
        the run was asked to end: Cancelled
        -> forgeyard run retry RUN starts the plan again"
    `);
  });

  it('a graph of 300 needs is told in a few lines', async () => {
    const many = Array.from({ length: 300 }, (_, at) => `j${at}`);
    const run = await stage.create(host, [...many.map((name) => job(name)), job('end', { needs: many })]);
    const { because, next } = await about(run, 'end');
    expect(because.length).toBeLessThan(15);
    expect(next.length).toBeLessThan(15);
    expect(because.at(-1)).toBe('and 290 more');
  });
});

describe('explain a run', () => {
  it('whose gate asks certain people: names them, but not to one of them', async () => {
    const run = await stage.create(host, [job('deploy', { needs: ['ok'] }), gate('ok', { approvers: ['zoe', 'kim'] })]);
    const nextFor = async (actor: string) => explainRun({ ...(await rows(run)), actor }).next.at(-1);
    expect(await nextFor('ada')).toMatch(/^gate ok is decided by zoe, kim: forgeyard gate approve run_\w+\/ok$/);
    expect(await nextFor('kim')).toMatch(/^forgeyard gate approve run_\w+\/ok$/);
  });

  it('that goes on: what it waits for', async () => {
    const run = await stage.create(host, [job('a'), job('b'), job('c', { needs: ['ok'] }), gate('ok')], {
      deadline: '1h',
    });
    const runner = await stage.runner(host, 'ada');
    const offer = await runner.take('a');
    await runner.accept(offer);
    await runner.start(offer);
    expect(text(explainRun(await rows(run)))).toMatchInlineSnapshot(`
      "run RUN: Running
        0 of 4 jobs and gates have ended
        running: a, b
        waiting for other jobs or gates: c
        -> job a has to end (Running): forgeyard job explain RUN/a
        -> job b has to end (Leased): forgeyard job explain RUN/b
        -> forgeyard gate approve RUN/ok
        -> its deadline is TIME, in 1h 00m"
    `);
  });

  it('whose job needs what no connected runner has: says so, as the explanation of the job does', async () => {
    const run = await stage.create(host, [job('a', { capabilities: ['gpu', 'linux'] }), job('b')]);
    await stage.runner(host, 'ada', { capabilities: ['linux'] });
    expect(text(explainRun(await rows(run)))).toMatchInlineSnapshot(`
      "run RUN: Queued
        0 of 2 jobs and gates have ended
        ready, waiting for a runner: a, b
        a  waits for a runner with gpu; none is connected
        -> connect a runner that has it: forgeyard run watch --resume RUN --capability gpu
        -> job a has to end (Eligible): forgeyard job explain RUN/a
        -> job b has to end (Eligible): forgeyard job explain RUN/b"
    `);
  });

  it('that nobody carries, and one that is being cancelled', async () => {
    const run = await stage.create(host, [job('a')]);
    expect(text(explainRun(await rows(run)))).toMatchInlineSnapshot(`
      "run RUN: Queued
        0 of 1 jobs and gates have ended
        ready, waiting for a runner: a
        no process carries it: no runner is connected
        -> forgeyard run watch --resume RUN carries it here
        -> job a has to end (Eligible): forgeyard job explain RUN/a"
    `);
    const runner = await stage.runner(host, 'ada');
    await runner.accept(await runner.take('a'));
    await host.runtime.runs.cancel(run, { actor: user });
    expect(text(explainRun(await rows(run)))).toMatchInlineSnapshot(`
      "run RUN: Cancelling
        it was asked to end (Cancelled) 0.0s ago
        0 of 1 jobs and gates have ended
        1 job is still stopping: a
        running: a
        -> job a has to end (Preparing): forgeyard job explain RUN/a"
    `);
  });
});
