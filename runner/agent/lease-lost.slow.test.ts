import { afterEach, describe, expect, test } from 'vitest';
import { jobSpec } from '../test-support/job-specs.ts';
import { createStage, createWitness, stubborn } from '../test-support/stage.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe('agent: losing the lease', () => {
  test('000 §175 without renewals the agent kills its own work before the lease ends', async () => {
    // The margin before the end is a tenth of this: what a busy machine may take to kill and to notice.
    const leaseTtlMs = 10_000;
    const made = await createStage({ heartbeatEveryMs: 30, leaseTtlMs });
    const witness = await createWitness(made.dir);
    closing.push(
      () => witness.close(),
      () => made.close(),
    );
    let down = false;
    let lastRenewal = 0;
    made.control.react((request) => {
      if (request.type !== 'heartbeat') return undefined;
      if (down) return Promise.reject(new Error('down'));
      lastRenewal = performance.now();
      return undefined;
    });
    made.control.offer(jobSpec([`"${process.execPath}" -e '${stubborn(witness)}'`]));
    await witness.present(1);
    await made.control.expectMessage('heartbeat');
    down = true;
    await witness.gone();
    expect(performance.now() - lastRenewal).toBeLessThan(leaseTtlMs);
    expect(await made.expectEvent('attemptEnded')).toMatchObject({
      end: { kind: 'abandoned', why: 'the lease was not renewed in time' },
    });
  });
});
