import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import type { OutputRefReport, RunnerReply, RunnerRequest } from '../protocol/index.ts';
import { encodedBytes, messageBytesMax } from '../protocol/index.ts';
import { jobSpec } from '../test-support/job-specs.ts';
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

const pageSize = 200;
/** About a kilobyte each on the wire. */
const manyPaths = Array.from({ length: 600 }, (_, index) =>
  join(...['a', 'b', 'c', 'd'].map((letter) => letter.repeat(200)), String(index)),
);

async function storedOutputs(made: Stage, paths: readonly string[]): Promise<OutputRefReport[]> {
  async function* content() {
    yield Buffer.from('x');
  }
  const { digest, bytes } = await made.outputs.put(content());
  return paths.map((path) => ({ path, digest, bytes, mode: 0o644 }));
}

/** Offers a job whose inputs come in pages, as the control plane gives them out. */
function offerPaged(made: Stage, outputs: readonly OutputRefReport[], script: string) {
  const page = (after: number) => {
    const end = after + pageSize;
    return { inputs: [{ job: 'up', outputs: outputs.slice(after, end) }], next: end < outputs.length ? end : null };
  };
  made.control.react((request) => (request.type === 'inputs' ? { type: 'inputs', ...page(request.after) } : undefined));
  return made.control.offer(jobSpec([script], { inputsFrom: ['up'] }), {
    inputs: page(0).inputs,
    moreInputs: pageSize,
  });
}

describe('agent: inputs', () => {
  test('000 §226 a fan-in that fits no message is placed page by page before the first step', async () => {
    const made = await stage();
    const outputs = await storedOutputs(made, manyPaths);
    expect(encodedBytes(outputs)).toBeGreaterThan(2 * messageBytesMax);
    offerPaged(made, outputs, '[ $(find a* -type f | wc -l) = 600 ]');
    await made.control.expectMessage('complete');
    await made.expectEvent('attemptEnded');
    expect(made.control.of('inputs').map(({ after }) => after)).toEqual([200, 400]);
    const [ended] = made.control.of('complete');
    expect(await made.log(ended?.log ?? '')).toContain('placed 600 files of up');
  });

  test('000 §342 a page whose answer is lost is asked for again', async () => {
    const made = await stage();
    offerPaged(made, await storedOutputs(made, manyPaths.slice(0, 300)), 'true');
    let lost = false;
    made.control.react((request) => {
      if (request.type !== 'inputs' || lost) return undefined;
      lost = true;
      throw new Error('no answer');
    });
    const { log } = await made.control.expectMessage('complete');
    await made.expectEvent('attemptEnded');
    expect(new Set(made.control.of('inputs').map(({ messageId }) => messageId)).size).toBe(1);
    expect(made.control.of('inputs')).toHaveLength(2);
    expect(await made.log(log ?? '')).toContain('placed 300 files of up');
  });

  test.each<[string, RunnerReply]>([
    ['that is refused', { type: 'rejected', code: 'Stale', message: '' }],
    ['that leads nowhere', { type: 'inputs', inputs: [], next: pageSize }],
    ['that is no page', { type: 'ok' }],
  ])('000 §190 a page %s ends the attempt before it starts', async (_, reply) => {
    const made = await stage();
    offerPaged(made, await storedOutputs(made, manyPaths.slice(0, 201)), 'true');
    made.control.react((request) => (request.type === 'inputs' ? reply : undefined));
    expect(await made.expectEvent('attemptEnded')).toMatchObject({ end: { kind: 'abandoned' } });
    expect(made.control.of('start')).toEqual([]);
    expect(await readdir(join(made.dir, 'state', 'workspaces'))).toEqual([]);
  });

  test('S20 a cancel during the pages is obeyed at once', async () => {
    const made = await stage({ heartbeatEveryMs: 20 });
    const { attempt } = offerPaged(made, await storedOutputs(made, manyPaths.slice(0, 201)), 'true');
    made.control.react((request) => (request.type === 'inputs' ? new Promise(() => undefined) : undefined));
    await made.control.expectMessage('inputs');
    made.control.direct(attempt, { kind: 'cancel', intent: 'Cancelled', leaseMs: 10_000 });
    await made.control.expectMessage('terminated');
  });
});

describe('agent: offers that did not fit', () => {
  test('a reply that says there is more is followed by another poll at once', async () => {
    const made = await stage({ slots: 2, tuning: { pollEveryMs: 1_000_000 } });
    const replies = ['first', 'second'].map((jobName) => {
      made.control.offer(jobSpec(['true']), { jobName });
      return { type: 'offers' as const, offers: made.control.takeOffers(), more: jobName === 'first' };
    });
    const seen: RunnerRequest[] = [];
    made.control.react((request) => {
      if (request.type !== 'poll') return undefined;
      seen.push(request);
      return replies.shift();
    });
    // No slot becomes free, and no bell rings any more: there is no other reason to ask again.
    made.control.react((request) => (request.type === 'start' ? new Promise(() => undefined) : undefined));
    await made.expectEvent('attemptAccepted', ({ jobName }) => jobName === 'second');
    expect(seen).toHaveLength(2);
  });
});
