import { afterEach, expect, test } from 'vitest';
import { jobSpec } from '../test-support/job-specs.ts';
import type { Stage } from '../test-support/stage.ts';
import { createStage } from '../test-support/stage.ts';

let stage: Stage | null = null;
afterEach(async () => {
  await stage?.close();
  stage = null;
});

/** The keeper's thread fails when it is first asked to renew. */
const failing = 'export const connect = () => ({ request: () => setImmediate(() => { throw new Error("gone") }) })';

test('000 §42 an agent whose lease keeper is gone ends its work and takes no more: nothing guards its deadlines', async () => {
  stage = await createStage({
    heartbeatEveryMs: 20,
    wrapTransport: (transport) => ({
      ...transport,
      threadEndpoint: () => ({ module: `data:text/javascript,${failing}`, data: null, transfer: [] }),
    }),
  });
  stage.control.offer(jobSpec(['exec sleep 1000']));
  const ended = await stage.expectEvent('attemptEnded');
  expect(ended.end).toEqual({ kind: 'abandoned', why: 'the lease keeper failed' });
  expect(await stage.expectEvent('keeperFailed')).toMatchObject({ message: 'gone' });
  await stage.agent.closed;
});
