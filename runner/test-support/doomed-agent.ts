/**
 * A whole process with agent and control plane in it, made to be killed with -9, or to leave on its own.
 * Argv: state folder, step script, `drain` to leave after the first attempt or `exit-on-term`.
 */
import { createMemoryLink } from '../../transport/memory/index.ts';
import { createAgent, createOutputStore, systemClock } from '../index.ts';
import { createFakeControlPlane, digestOf } from './fake-control-plane.ts';
import { jobSpec } from './job-specs.ts';

const [stateDir = '', script = '', then = ''] = process.argv.slice(2);
const control = createFakeControlPlane({ leaseTtlMs: 60_000, heartbeatEveryMs: 1_000 });
const link = createMemoryLink(control.handle);
control.onOffer(link.ring);
let lastId = 0;
const agent = createAgent({
  transport: link.transport,
  runnerId: 'runner-1',
  name: 'doomed',
  capabilities: [],
  slots: 1,
  clock: systemClock,
  ids: () => `id-${++lastId}`,
  random: () => 0.5,
  stateDir,
  logDir: `${stateDir}/logs`,
  outputStore: createOutputStore(`${stateDir}/outputs`),
  secretProviders: { commands: {}, filesFrom: stateDir, commandTimeoutMs: 1_000 },
  env: { PATH: process.env.PATH },
  digestOf,
  onEvent: () => undefined,
});
if (then === 'exit-on-term') process.on('SIGTERM', () => process.exit(1));
await agent.start();
control.offer(jobSpec([script]));
if (then === 'drain') {
  await control.expectMessage('complete');
  await agent.drain();
}
