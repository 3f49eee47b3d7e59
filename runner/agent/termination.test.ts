import { writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { pidsOfAttempts } from '../process/process-table.ts';
import { jobSpec, scriptStep, timeouts } from '../test-support/job-specs.ts';
import type { Stage, StageOptions, Witness } from '../test-support/stage.ts';
import { createStage, createWitness, polite, stubborn } from '../test-support/stage.ts';

const stages: Stage[] = [];
const witnesses: Witness[] = [];
async function stage(options: StageOptions = {}): Promise<{ made: Stage; witness: Witness }> {
  const made = await createStage({ heartbeatEveryMs: 30, ...options });
  const witness = await createWitness(made.dir);
  stages.push(made);
  witnesses.push(witness);
  return { made, witness };
}
afterEach(async () => {
  for (const witness of witnesses.splice(0)) witness.close();
  await Promise.all(stages.splice(0).map((made) => made.close()));
});

/** A step that ends when the test says so. */
const waitForGo = 'while [ ! -e "$FORGEYARD_WORKSPACE/../go" ]; do sleep 0.01; done';
const go = (made: Stage, attempt: string) => writeFile(`${made.dir}/state/workspaces/${attempt}/go`, '');

/** A shell that ignores TERM, with a grandchild that ignores it too: three processes, two of them seen. */
function stubbornFamily(witness: Witness): string {
  const program = `"${process.execPath}" -e '${stubborn(witness)}'`;
  return `trap '' TERM\n${program} &\n${program}`;
}
const brief = (terminationGraceMs: number) => ({ timeouts: timeouts({ terminationGraceMs }) });

describe('agent: cancel', () => {
  test('000 §66 TERM, grace, then KILL of the whole group: grandchildren that ignore TERM die', async () => {
    const { made, witness } = await stage();
    const { attempt } = made.control.offer(jobSpec([stubbornFamily(witness)], brief(50)));
    await witness.present(2);
    made.control.direct(attempt, { kind: 'cancel', intent: 'Cancelled', leaseMs: 10_000 });
    await made.control.expectMessage('terminated');
    await witness.gone();
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'terminated', intent: 'Cancelled' } });
  });

  test('a workload that ends on TERM is not killed and its last words are logged', async () => {
    const { made, witness } = await stage();
    const { attempt } = made.control.offer(
      jobSpec([scriptStep('', { command: { kind: 'argv', argv: [process.execPath, '-e', polite(witness)] } })]),
    );
    await witness.present(1);
    made.control.direct(attempt, { kind: 'cancel', intent: 'Cancelled', leaseMs: 10_000 });
    await made.control.expectMessage('terminated');
    await made.expectEvent('attemptEnded');
    expect(await made.log(`${attempt}/1-step.log`)).toBe('bye\n');
  });

  test('a process that left its group and session dies with the workload', async () => {
    const { made, witness } = await stage();
    const escaper = `require('child_process').spawn(process.execPath,['-e',${JSON.stringify(stubborn(witness))}],{detached:true,stdio:'ignore'}).unref();${stubborn(witness)}`;
    const { attempt } = made.control.offer(
      jobSpec([scriptStep('', { command: { kind: 'argv', argv: [process.execPath, '-e', escaper] } })], brief(30)),
    );
    await witness.present(2);
    made.control.direct(attempt, { kind: 'cancel', intent: 'Cancelled', leaseMs: 10_000 });
    await made.control.expectMessage('terminated');
    await witness.gone();
  });

  test('S20 a start that is answered Cancel launches nothing and reports nothing more', async () => {
    const { made } = await stage();
    made.control.react((request) =>
      request.type === 'start'
        ? { type: 'directive', directive: { kind: 'cancel', intent: 'Cancelled', leaseMs: 1_000 } }
        : undefined,
    );
    made.control.offer(jobSpec(['true']));
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'terminated' } });
    expect(made.events.some((event) => event.kind === 'stepStarted')).toBe(false);
    expect(made.control.of('terminated')).toEqual([]);
  });

  test('a cancel that is learnt when the work is finished still delivers the result', async () => {
    const { made } = await stage();
    made.control.react((request) =>
      request.type === 'finish'
        ? { type: 'directive', directive: { kind: 'cancel', intent: 'Cancelled', leaseMs: 9_000 } }
        : undefined,
    );
    made.control.offer(jobSpec(['echo x > out'], { outputs: ['out'] }));
    expect((await made.control.expectMessage('complete')).outputs).toHaveLength(1);
  });

  test('a preparation that does not listen does not hold up a cancel', async () => {
    const { made } = await stage({ populateWorkspace: () => new Promise(() => undefined) });
    const { attempt } = made.control.offer(jobSpec(['true']));
    await made.expectEvent('attemptAccepted');
    made.control.direct(attempt, { kind: 'cancel', intent: 'Cancelled', leaseMs: 10_000 });
    await made.control.expectMessage('terminated');
    await made.expectEvent('attemptEnded');
  });

  test('a store that hangs does not hold up the message of a failure', async () => {
    const { made } = await stage({ tuning: { reportUploadMs: 20 } });
    made.outputs.put = () => new Promise(() => undefined);
    made.control.offer(jobSpec(['echo x > report; exit 3'], { reports: ['report'] }));
    expect(await made.control.expectMessage('fail')).toMatchObject({ exit: { code: 3 }, reports: [] });
  });

  test('background processes of a step end with the attempt and do not keep it open', async () => {
    const { made, witness } = await stage();
    const background = `"${process.execPath}" -e '${stubborn(witness)}' &`;
    const { attempt } = made.control.offer(jobSpec([background, waitForGo]));
    const alive: number[] = [];
    made.control.react(async (request) => {
      if (request.type === 'finish') alive.push(...(await pidsOfAttempts(new Set([attempt]))));
      return undefined;
    });
    await witness.present(1);
    await go(made, attempt);
    await made.control.expectMessage('complete');
    await witness.gone();
    expect(alive).toEqual([]);
  });
});

describe('agent: timeouts', () => {
  const sleeper = 'exec sleep 1000';
  test.each([
    ['execution', jobSpec([sleeper], { timeouts: timeouts({ executionMs: 60 }) })],
    ['execution', jobSpec([sleeper], { timeouts: timeouts({ executionMs: 60, executionIncludesPreparation: true }) })],
    ['step', jobSpec([scriptStep(sleeper, { timeoutMs: 60 })])],
  ])('000 §61 the %s timeout is enforced by the agent itself and reported as Timeout', async (name, spec) => {
    const { made } = await stage();
    made.control.offer(spec);
    const fail = await made.control.expectMessage('fail');
    expect(fail).toMatchObject({
      failureClass: 'Timeout',
      detail: { message: `the ${name} timeout of 60 ms was reached` },
    });
  });

  test('000 §62 the preparation timeout ends a preparation that hangs', async () => {
    const { made } = await stage({
      populateWorkspace: (_work, _offer, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    made.control.offer(jobSpec(['true'], { timeouts: timeouts({ preparationMs: 40 }) }));
    expect(await made.control.expectMessage('fail')).toMatchObject({ failureClass: 'Timeout' });
    expect(made.control.of('start')).toEqual([]);
  });

  test('000 §122 the upload timeout ends an upload that hangs', async () => {
    const { made } = await stage({ tuning: { uploadTriesMax: 1_000, uploadRetryMs: 5 } });
    made.outputs.put = () => Promise.reject(new Error('no route to storage'));
    made.control.offer(jobSpec(['echo x > out'], { outputs: ['out'], timeouts: timeouts({ uploadMs: 60 }) }));
    expect(await made.control.expectMessage('fail')).toMatchObject({ failureClass: 'Timeout' });
  });
});

describe('agent: losing the lease', () => {
  test('000 §190 Stale: the workload is killed at once and no result is sent', async () => {
    const { made, witness } = await stage();
    const { attempt } = made.control.offer(jobSpec([stubbornFamily(witness)]));
    await witness.present(2);
    made.control.direct(attempt, { kind: 'stale' });
    await witness.gone();
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'abandoned' } });
    expect(
      ['complete', 'fail', 'terminated'].flatMap((type) => made.control.received.filter((sent) => sent.type === type)),
    ).toEqual([]);
  });

  test('S06 failed renewals with time left are tried again and the work goes on', async () => {
    const { made } = await stage();
    let failures = 0;
    made.control.react((request) => {
      if (request.type !== 'heartbeat' || failures === 3) return undefined;
      failures += 1;
      return Promise.reject(new Error('generic error'));
    });
    const { attempt } = made.control.offer(jobSpec([waitForGo]));
    await made.expectEvent('transportRecovered');
    await made.control.expectMessage('resync', (request) => request.attempts[0]?.authority.attempt === attempt);
    await go(made, attempt);
    await made.control.expectMessage('complete');
  });
});
