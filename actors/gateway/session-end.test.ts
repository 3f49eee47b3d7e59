import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { fakeDigest, idOf } from '../../conformance/core/index.ts';
import type { Stage } from '../../conformance/testkit/index.ts';
import { openStage } from '../../conformance/testkit/index.ts';
import type { SessionId } from '../../machines/index.ts';
import { canonicalJson, job } from '../../machines/plan/index.ts';
import type { AgentEvent } from '../../runner/index.ts';
import { createAgent, createOutputStore, systemClock } from '../../runner/index.ts';
import { createMemoryStore } from '../../store/memory/index.ts';
import { createMemoryLink } from '../../transport/memory/index.ts';

const stages: Stage[] = [];
async function open(): Promise<Stage> {
  const stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
  stages.push(stage);
  return stage;
}
afterEach(async () => {
  for (const stage of stages.splice(0)) {
    expect(await stage.problems()).toEqual([]);
    await stage.close();
  }
});

test('sessions: polls: draining ones get nothing, ended ones are told how they ended', async () => {
  const stage = await open();
  const host = await stage.host();
  await stage.create(host, [job('a')]);
  const poll = async (runner: string, session: string) => {
    const reply = await host.runtime.gateway.request({
      type: 'poll',
      version: 1,
      messageId: stage.id(),
      runner,
      session,
      max: 1,
    });
    return reply.type === 'rejected' ? reply.code : reply;
  };
  const ada = await stage.runner(host, 'ada');
  await ada.drain();
  expect(await poll('ada', ada.session)).toEqual({ type: 'offers', offers: [] });
  await stage.runner(host, 'ada');
  expect(await poll('ada', ada.session)).toBe('Stale');
  const eve = await stage.runner(host, 'eve');
  await host.runtime.closeSession(idOf<SessionId>(eve.session), 'its host is gone');
  expect(await poll('eve', eve.session)).toBe('SessionNotActive');
  expect(await poll('eve', stage.id())).toBe('Foreign');
  expect(await poll('bob', eve.session)).toBe('Foreign');
});

test('000 §268 an agent whose session was closed comes back by itself and goes on with the run', async () => {
  const stage = await open();
  const host = await stage.host();
  const dir = await mkdtemp(join(tmpdir(), 'session-end-'));
  const { transport, ring } = createMemoryLink(host.runtime.gateway.request);
  const sessions = [Promise.withResolvers<string>(), Promise.withResolvers<string>()];
  const completed = Promise.withResolvers<void>();
  let opened = 0;
  const onEvent = (event: AgentEvent): void => {
    if (event.kind === 'sessionOpened') sessions[opened++]?.resolve(event.session);
    if (event.kind === 'attemptEnded' && event.end.kind === 'completed') completed.resolve();
  };
  const agent = createAgent({
    transport,
    runnerId: 'ada',
    name: 'ada',
    capabilities: [],
    slots: 1,
    clock: systemClock,
    ids: stage.id,
    random: () => 0.5,
    stateDir: join(dir, 'state'),
    logDir: join(dir, 'logs'),
    outputStore: createOutputStore(join(dir, 'outputs')),
    secretProviders: { commands: {}, filesFrom: dir, commandTimeoutMs: 1_000 },
    env: { PATH: process.env.PATH },
    digestOf: (spec) => fakeDigest(canonicalJson(spec)),
    onEvent,
    tuning: { sessionRetryMs: 1 },
  });
  try {
    await agent.start();
    const first = await sessions[0]?.promise;
    await host.runtime.closeSession(idOf<SessionId>(first ?? ''), 'its host was judged dead');
    ring();
    expect(await sessions[1]?.promise).not.toBe(first);
    const run = await stage.create(host, [job('a')]);
    ring();
    await completed.promise;
    await stage.settle();
    expect(await stage.states(run)).toMatchObject({ a: 'Succeeded', run: 'Succeeded' });
  } finally {
    await agent.stop({ graceMs: 0 });
    transport.close();
    await rm(dir, { recursive: true, force: true });
  }
});
