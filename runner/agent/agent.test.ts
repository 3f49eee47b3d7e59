import { readdirSync } from 'node:fs';
import { readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { jobSpec, scriptStep } from '../test-support/job-specs.ts';
import type { Stage, StageOptions } from '../test-support/stage.ts';
import { createStage } from '../test-support/stage.ts';

const stages: Stage[] = [];
async function stage(options: StageOptions = {}): Promise<Stage> {
  const made = await createStage(options);
  stages.push(made);
  return made;
}
afterEach(async () => {
  await Promise.all(stages.splice(0).map((made) => made.close()));
});

const phases = (made: Stage) =>
  made.control.received
    .map((request) => request.type)
    .filter((type) => !['poll', 'heartbeat', 'progress'].includes(type));

describe('agent: the ordinary life of an attempt', () => {
  test('000 §38 hello, accept, start, finish, complete; outputs are in the store, the workspace is gone', async () => {
    const made = await stage();
    const spec = jobSpec(['mkdir -p dist/deep; printf hello > dist/a.txt; printf x > dist/deep/.hidden'], {
      outputs: ['dist/**'],
    });
    made.control.offer(spec);
    const complete = await made.control.expectMessage('complete');
    await made.expectEvent('attemptEnded');
    expect(phases(made)).toEqual(['hello', 'accept', 'start', 'finish', 'complete']);
    expect(complete.exit).toEqual({ code: 0, signal: null });
    expect(complete.outputs.map(({ path, bytes }) => [path, bytes])).toEqual([
      ['dist/a.txt', 5],
      ['dist/deep/.hidden', 1],
    ]);
    expect(await made.outputs.verify(complete.outputs)).toEqual({ missing: [], corrupt: [] });
    expect(await readdir(join(made.dir, 'state', 'workspaces'))).toEqual([]);
    expect(await readdir(join(made.dir, 'state', 'attempts'))).toEqual([]);
  });

  test('000 §54 a failing step ends the attempt with its code, its class and its name', async () => {
    const made = await stage();
    made.control.offer(
      jobSpec([
        'true',
        scriptStep('echo oops >&2; exit 7', { name: 'unit tests', failureClass: 'TestFailure' }),
        'touch never',
      ]),
    );
    const fail = await made.control.expectMessage('fail');
    expect(fail).toMatchObject({
      failureClass: 'TestFailure',
      exit: { code: 7, signal: null },
      detail: { step: 'unit tests', stepIndex: 1 },
    });
    await made.expectEvent('attemptEnded');
    expect(await made.log(`${fail.authority.attempt}/2-unit-tests.log`)).toBe('oops\n');
    expect(await made.log(fail.log ?? '')).toContain('step 2/3: unit tests\noops\n');
    expect(phases(made)).toEqual(['hello', 'accept', 'start', 'fail']);
  });

  test('000 §95 a step ended by a signal reports the signal', async () => {
    const made = await stage();
    made.control.offer(jobSpec(['kill -KILL $$']));
    expect(await made.control.expectMessage('fail')).toMatchObject({
      failureClass: 'UserCommand',
      exit: { code: null, signal: 'SIGKILL' },
    });
  });

  test('a missing interpreter is ToolchainUnavailable', async () => {
    const made = await stage();
    made.control.offer(jobSpec([scriptStep('x', { command: { kind: 'argv', argv: ['no-such-program-anywhere'] } })]));
    expect(await made.control.expectMessage('fail')).toMatchObject({
      failureClass: 'ToolchainUnavailable',
      transient: false,
    });
  });

  test('an output glob that matches nothing fails the job and says which', async () => {
    const made = await stage();
    made.control.offer(jobSpec(['true'], { outputs: ['dist/*.js'] }));
    const fail = await made.control.expectMessage('fail');
    expect(fail).toMatchObject({
      failureClass: 'UserCommand',
      detail: { message: expect.stringContaining('dist/*.js') },
    });
  });

  test('the end of a log that is too long is there when the failure is said', async () => {
    const made = await stage({ tuning: { logBytesMax: 1_000 } });
    made.control.offer(jobSpec(['head -c 200000 /dev/zero | tr "\\0" x; echo; echo why it failed; exit 3']));
    const fail = await made.control.expectMessage('fail');
    expect(await made.log(fail.log ?? '')).toMatch(/ are left out here\nx+\nwhy it failed\n.*failed \(UserCommand\)/);
  });

  test('the log names the links that were left out of the outputs, the first of many', async () => {
    const made = await stage();
    const links = 'for n in 10 11 12 13 14 15 16 17 18 19 20 21; do ln -s a $n; done';
    made.control.offer(jobSpec([`echo x > a; ${links}`], { outputs: ['*'] }));
    const complete = await made.control.expectMessage('complete');
    await made.expectEvent('attemptEnded');
    expect(complete.outputs.map(({ path }) => path)).toEqual(['a']);
    expect(await made.log(complete.log ?? '')).toMatch(/symbolic links are no outputs: 10, 11, .*, 19 and 2 more\n/);
  });

  test('reports are kept on failure', async () => {
    const made = await stage();
    made.control.offer(jobSpec(['echo bad > report.xml; exit 1'], { reports: ['*.xml', 'none/*'] }));
    const fail = await made.control.expectMessage('fail');
    expect(fail.reports.map(({ path }) => path)).toEqual(['report.xml']);
  });

  test('on a full disk the workspace of a failed attempt is gone before the failure is said', async () => {
    let free = 1_000;
    const left: (readonly string[])[] = [];
    const made = await stage({
      tuning: { freeBytesMin: 1_000 },
      freeBytes: async () => free,
      onEvent: (event) => {
        if (event.kind === 'stepEnded') free = 0;
      },
    });
    made.control.react((request) => {
      if (request.type === 'fail') left.push(readdirSync(join(made.dir, 'state', 'workspaces')));
      return undefined;
    });
    made.control.offer(jobSpec(['echo bad > report.xml; exit 1'], { reports: ['*.xml'] }));
    const fail = await made.control.expectMessage('fail');
    expect(left).toEqual([[]]);
    expect(fail.reports.map(({ path }) => path)).toEqual(['report.xml']);
    expect(await made.log(fail.log ?? '')).toContain('the disk is full (ENOSPC)');
  });

  test('a workspace that cannot be removed is reported, and the attempt still ends as it did', async () => {
    const made = await stage();
    // Too deep for any path: two halves, one moved below the other.
    const deep = 'd=$(printf %0200d 0); p=$d; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do p=$p/$d; done';
    const { attempt } = made.control.offer(jobSpec([`${deep}; mkdir -p a/$p b/$p; mv b a/$p/`]));
    expect(await made.expectEvent('workspaceLeft')).toMatchObject({ attempt });
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'completed' } });
    expect(await readdir(join(made.dir, 'state', 'attempts'))).toEqual([]);
    const work = join(made.dir, 'state', 'workspaces', attempt, 'work');
    const half = Array.from({ length: 14 }, () => '0'.repeat(200));
    await rename(join(work, 'a', ...half, 'b'), join(work, 'b'));
  });

  test('the environment of a step is built, not inherited', async () => {
    const made = await stage({ env: { PATH: process.env.PATH, LEAK: 'no' } });
    const spec = jobSpec([scriptStep('env > env.txt', { env: { STEP: '2' } })], {
      env: { JOB: '1', STEP: '1' },
      matrix: { 'node-version': '26' },
      reports: ['env.txt'],
    });
    made.control.offer(spec);
    const [report] = (await made.control.expectMessage('complete')).reports;
    const chunks: Uint8Array[] = [];
    await made.outputs.read(report?.digest ?? '', async (chunk) => void chunks.push(chunk));
    const env = Buffer.concat(chunks).toString().split('\n');
    expect(env).toEqual(
      expect.arrayContaining(['JOB=1', 'STEP=2', 'FORGEYARD_MATRIX_NODE_VERSION=26', 'FORGEYARD_ATTEMPT=1']),
    );
    expect(env.join('\n')).not.toContain('LEAK');
  });
});

describe('agent: offers', () => {
  test('000 §183 a spec that does not have the digest it is bound to is refused', async () => {
    const made = await stage();
    const good = made.control.offer(jobSpec(['true']));
    await made.control.expectMessage('complete');
    made.control.offer(jobSpec(['false']), { authority: { ...good, attempt: 'attempt-x' } });
    expect(await made.control.expectMessage('reject')).toMatchObject({
      reason: 'LocalFailure',
      message: expect.stringContaining('digest'),
    });
  });

  test('000 §182 a spec with fields this version does not know is refused', async () => {
    const made = await stage();
    const spec = { ...jobSpec(['true']), isolation: 'vm' };
    made.control.offer(spec);
    expect(await made.control.expectMessage('reject')).toMatchObject({ reason: 'LocalFailure' });
  });

  test('000 §39 S08 beyond the slots offers are rejected as Busy, and the running job is left alone', async () => {
    const made = await stage();
    const first = made.control.offer(jobSpec(['true']), { jobName: 'first' });
    made.control.offer(jobSpec(['true']), { jobName: 'second' });
    const both = made.control.takeOffers();
    made.control.react((request) => (request.type === 'poll' ? { type: 'offers', offers: both.splice(0) } : undefined));
    made.control.ring();
    expect(await made.control.expectMessage('reject')).toMatchObject({ reason: 'Busy' });
    expect((await made.control.expectMessage('complete')).authority).toEqual(first);
  });

  test('a capability that is gone and a disk that has become full refuse', async () => {
    let free = 1_000;
    const made = await stage({ tuning: { freeBytesMin: 1_000 }, freeBytes: async () => free });
    made.control.offer(jobSpec(['true'], { capabilities: ['gpu'] }));
    expect(await made.control.expectMessage('reject')).toMatchObject({
      reason: 'CapabilityChanged',
      message: 'missing: gpu',
    });
    // There is room when the agent asks for offers, and none when it judges one.
    made.control.react((request) => {
      if (request.type === 'poll') free = 0;
      return undefined;
    });
    made.control.offer(jobSpec(['true']));
    await made.control.expectMessage('reject', (request) => request.reason === 'DiskPressure');
  });

  test('with a full disk it asks for no offers, says so once, and asks again when there is room', async () => {
    let free = 0;
    const looked = Promise.withResolvers<void>();
    let looks = 0;
    const made = await stage({
      tuning: { freeBytesMin: 1_000, pollEveryMs: 5 },
      freeBytes: async () => {
        looks += 1;
        if (looks === 3) looked.resolve();
        return free;
      },
    });
    const authority = made.control.offer(jobSpec(['true']));
    await looked.promise;
    expect(made.control.received.map(({ type }) => type)).toEqual(['hello']);
    free = 1_000;
    made.control.ring();
    expect((await made.control.expectMessage('complete')).authority).toEqual(authority);
    expect(made.events.filter(({ kind }) => kind === 'diskShort' || kind === 'diskRoomAgain')).toEqual([
      { kind: 'diskShort', freeBytesMin: 1_000 },
      { kind: 'diskRoomAgain' },
    ]);
  });

  test('S09 an offer that is no longer open when it is accepted starts nothing', async () => {
    const made = await stage();
    made.control.react((request) =>
      request.type === 'accept' ? { type: 'rejected', code: 'LeaseExpired', message: '' } : undefined,
    );
    made.control.offer(jobSpec(['true']));
    expect(await made.expectEvent('offerRefused')).toMatchObject({ reason: 'NotGranted', message: 'LeaseExpired' });
    expect(phases(made)).toEqual(['hello', 'accept']);
  });
});

describe('agent: failpoints', () => {
  test('each is passed once, in the order of the attempt, before the agent goes on', async () => {
    const passed: string[] = [];
    const made = await stage({
      failpoint: async (point) => {
        await Promise.resolve();
        const sent = made.control.received.map((request) => request.type).filter((type) => type !== 'poll');
        passed.push(`${point} after ${sent.filter((type) => type !== 'progress').at(-1)}`);
      },
    });
    made.control.offer(jobSpec(['true', 'true']));
    await made.expectEvent('attemptEnded');
    expect(passed).toEqual([
      'offerReceived after hello',
      'accepted after accept',
      'midWorkload after start',
      'outputsUploaded after finish',
      'completionSent after complete',
    ]);
  });

  test('a failpoint that throws is a failure of the runner, not of the job', async () => {
    const made = await stage({
      failpoint: (point) => {
        if (point === 'midWorkload') throw new Error('injected');
      },
    });
    made.control.offer(jobSpec(['sleep 1000']));
    expect(await made.control.expectMessage('fail')).toMatchObject({ failureClass: 'Infrastructure', transient: true });
  });
});
