import { afterEach, describe, expect, test } from 'vitest';
import type { Stage } from '../../conformance/testkit/index.ts';
import { openStage } from '../../conformance/testkit/index.ts';
import type { BuiltNode } from '../../machines/plan/index.ts';
import { job, planLimits } from '../../machines/plan/index.ts';
import type { JobInputs, Offer, OutputRefReport, RunnerReply, RunnerRequestOf } from '../../runner/protocol/index.ts';
import { encodedBytes, messageBytesMax, offerInputsBytesMax } from '../../runner/protocol/index.ts';
import { createMemoryStore } from '../../store/memory/index.ts';
import type { RunnerTransport } from '../../transport/index.ts';
import { createMemoryLink } from '../../transport/memory/index.ts';

const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) {
    expect(await stage.problems()).toEqual([]);
    await stage.close();
  }
});

/** A host, and a runner whose messages pass the codec with its limits, as over any wire. */
async function open(slots = 100) {
  const stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
  stages.push(stage);
  const host = await stage.host();
  const { transport } = createMemoryLink(host.runtime.gateway.request);
  const gateway = { ...host.runtime.gateway, request: transport.request };
  const runner = await stage.runner(host, 'ada', { gateway, slots });
  const poll = async (): Promise<Extract<RunnerReply, { type: 'offers' }>> => {
    const reply = await runner.send({ type: 'poll', runner: runner.runner, session: runner.session, max: slots });
    if (reply.type !== 'offers') throw new Error(`no offers but ${reply.type}`);
    return reply;
  };
  return { stage, host, runner, poll, transport };
}

/** A job whose spec takes `bytes` or a little less, spread over scripts of legal length. */
function jobOf(name: string, bytes: number, written: Parameters<typeof job>[1] = {}): BuiltNode {
  const around = 2_000;
  const script = 'x'.repeat(Math.floor((bytes - around) / 2));
  return job(name, { steps: [script, script].map((run, index) => ({ name: `s${index}`, run })), ...written });
}

const specMax = planLimits.jobSpecBytesMax.value;

/** About 900 bytes each on the wire. */
const outputsOf = (upstream: string, count: number): OutputRefReport[] =>
  Array.from({ length: count }, (_, index) => ({
    path: `${upstream}/${'long'.repeat(190)}/${index}`,
    digest: `sha256:${'a'.repeat(64)}`,
    bytes: index,
    mode: 0o644,
  }));

async function allInputs(transport: RunnerTransport, offer: Offer): Promise<{ inputs: JobInputs[]; pages: number }> {
  const inputs = [...offer.inputs];
  let pages = 1;
  for (let after = offer.moreInputs ?? null; after !== null; pages += 1) {
    const reply = await transport.request(question(offer, after));
    if (reply.type !== 'inputs') throw new Error(`no inputs but ${JSON.stringify(reply)}`);
    inputs.push(...reply.inputs);
    after = reply.next;
  }
  return { inputs, pages };
}

const question = ({ authority }: Offer, after: number): RunnerRequestOf<'inputs'> => ({
  type: 'inputs',
  version: 1,
  messageId: `inputs-${after}`,
  authority,
  after,
});

describe('gateway: offers fit a message', () => {
  test('000 §246 what the reply cannot carry is not granted, and is offered by the next polls', async () => {
    const { stage, host, runner, poll } = await open();
    const names = ['a', 'b', 'c', 'd', 'e'];
    const run = await stage.create(
      host,
      names.map((name) => jobOf(name, 100_000)),
    );
    const seen: string[] = [];
    for (let polls = 1; polls <= 3; polls += 1) {
      const { offers, more = false } = await poll();
      expect(encodedBytes(offers)).toBeLessThan(messageBytesMax);
      seen.push(...offers.map(({ jobName }) => jobName));
      expect(more).toBe(polls < 3);
      const leased = Object.entries(await stage.states(run)).filter(([, state]) => state === 'Leased');
      expect(leased.map(([name]) => name)).toEqual(offers.map(({ jobName }) => jobName));
      for (const offer of offers) expect(await runner.accept(offer)).toMatchObject({ type: 'directive' });
    }
    expect(seen).toEqual(names);
  });

  test('many small offers fill one reply, and no more', async () => {
    const { stage, host, runner, poll } = await open(1_024);
    await stage.create(
      host,
      Array.from({ length: 400 }, (_, index) => job(`job-${index}`)),
    );
    const first = await poll();
    expect(first.more).toBe(true);
    expect(encodedBytes(first)).toBeGreaterThan(messageBytesMax * 0.9);
    for (const offer of first.offers) await runner.accept(offer);
    const second = await poll();
    expect(second.more).toBe(false);
    expect(first.offers.length + second.offers.length).toBe(400);
  });

  test('the largest job spec fits with a full first page of inputs', async () => {
    const { stage, host, runner, poll, transport } = await open();
    const last = jobOf('last', specMax - 2_000, { needs: ['up'], inputsFrom: ['up'] });
    await stage.create(host, [job('up', { outputs: ['**'] }), last]);
    const given = outputsOf('up', 200);
    await runner.succeed(await runner.take('up'), { outputs: given });
    await stage.settle();
    const [offer] = (await poll()).offers;
    if (offer === undefined) throw new Error('not offered');
    expect(encodedBytes(offer.spec)).toBeGreaterThan(specMax * 0.95);
    expect(encodedBytes(offer.inputs)).toBeGreaterThan(offerInputsBytesMax * 0.95);
    expect((await allInputs(transport, offer)).inputs.flatMap(({ outputs }) => outputs)).toEqual(given);
  });
});

describe('gateway: inputs', () => {
  const upstreams = ['one', 'two', 'three', 'none', 'four', 'five'];

  async function fanIn() {
    const opened = await open();
    const { stage, host, runner } = opened;
    await stage.create(host, [
      ...upstreams.map((name) => job(name, { outputs: ['**'] })),
      job('last', { needs: upstreams, inputsFrom: upstreams }),
    ]);
    for (const name of upstreams) {
      const outputs = name === 'none' ? [] : outputsOf(name, 250);
      expect(await runner.succeed(await runner.take(name), { outputs })).toEqual({ type: 'ok' });
    }
    await stage.settle();
    const offer = await runner.take('last');
    return { ...opened, offer };
  }

  test('000 §226 a fan-in several messages long arrives whole and in order', async () => {
    const { transport, offer } = await fanIn();
    const { inputs, pages } = await allInputs(transport, offer);
    expect(encodedBytes(inputs)).toBeGreaterThan(4 * messageBytesMax);
    expect(pages).toBeGreaterThan(4);
    const expected = upstreams.filter((name) => name !== 'none').flatMap((name) => outputsOf(name, 250));
    expect(inputs.flatMap(({ outputs }) => outputs)).toEqual(expected);
    expect(inputs.every(({ job: from, outputs }) => outputs.every(({ path }) => path.startsWith(`${from}/`)))).toBe(
      true,
    );
  });

  test('000 §290 only the current attempt is told', async () => {
    const { stage, runner, transport, offer } = await fanIn();
    const { authority } = offer;
    const asked = async (changed: Partial<Offer['authority']>) => {
      const reply = await transport.request(question({ ...offer, authority: { ...authority, ...changed } }, 0));
      return reply.type === 'rejected' ? reply.code : reply.type;
    };
    expect(await asked({})).toBe('inputs');
    expect(await asked({ session: stage.id() })).toBe('Foreign');
    expect(await asked({ epoch: authority.epoch + 1 })).toBe('Foreign');
    expect(await asked({ run: stage.id() })).toBe('UnknownEntity');
    expect(await asked({ specDigest: `sha256:${'b'.repeat(64)}` })).toBe('SpecMismatch');
    await runner.decline(offer);
    expect(['Stale', 'Foreign']).toContain(await asked({}));
  });

  test('another process answers too, although its memory is from before the grant', async () => {
    const opened = await open();
    const { stage, host, runner } = opened;
    const run = await stage.create(host, [
      job('up', { outputs: ['**'] }),
      job('last', { needs: ['up'], inputsFrom: ['up'] }),
    ]);
    const other = await stage.host();
    await runner.succeed(await runner.take('up'), { outputs: outputsOf('up', 3) });
    await stage.settle();
    // Loads the run into the memory of the other process.
    await other.runtime.jobs.markEligible(run, (await stage.job(run, 'last')).id, {
      actor: { id: 'user:ada', permissions: 'all' },
    });
    const offer = await runner.take('last');
    expect(await other.runtime.gateway.request(question(offer, 1))).toMatchObject({ type: 'inputs', next: null });
  });
});
