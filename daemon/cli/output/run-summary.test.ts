import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Host, Stage } from '../../../conformance/testkit/index.ts';
import { openStage, user } from '../../../conformance/testkit/index.ts';
import { gate, job } from '../../../machines/plan/index.ts';
import { createMemoryStore } from '../../../store/index.ts';
import { runView } from '../../views/index.ts';
import { plainPaint } from './paint.ts';
import { runSummary } from './run-tables.ts';

let stage: Stage;
let host: Host;
beforeEach(async () => {
  stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
  host = await stage.host();
});
afterEach(async () => await stage.close());

it('a failed run names what decided before what only went wrong beside it', async () => {
  const run = await stage.create(host, [
    job('lint', { failureImpact: 'allowed' }),
    job('extra', { required: false }),
    job('build'),
    job('gpu', { capabilities: ['gpu:a100'], timeouts: { queue: '1s' } }),
    gate('release'),
  ]);
  const runner = await stage.runner(host, 'ada');
  for (const name of ['lint', 'extra', 'build']) await runner.failRunning(await runner.take(name));
  const { id } = await stage.gate(run, 'release');
  await host.runtime.gates.decide(run, id, 'reject', { actor: user });
  await host.runtime.start();
  await stage.pass(2_000);
  const loaded = await stage.store.load(run);
  if (loaded === null) throw new Error('no such run');
  const [, ...lines] = runSummary(runView(loaded, stage.time.now()), plainPaint).split('\n');
  expect(lines.map((line) => line.replace(/run_\w{26}/, 'RUN'))).toEqual([
    '  build: forgeyard job logs RUN/build',
    '  gpu: forgeyard job explain RUN/gpu',
    '  release: gate rejected, RejectedByActor',
    '  lint (allowed): forgeyard job logs RUN/lint',
    '  extra (not required): forgeyard job logs RUN/extra',
  ]);
});
