import { job } from '../../machines/plan/index.ts';
import { fakeDigest } from '../core/index.ts';
import { user } from '../testkit/index.ts';
import type { Kit } from './kit.ts';

export function creationTests({ describe, test, expect }: Kit): void {
  describe('creation', () => {
    test('000 §375.1 S39: the same request gives the same run, and one RunCreated', async (stage) => {
      const host = await stage.host();
      const plan = stage.plan([job('a')]);
      const first = await stage.request(host, plan, 'request-1');
      const again = await stage.request(host, plan, 'request-1');
      expect(first).toMatchObject({ outcome: 'created' });
      const runId = first.outcome === 'created' ? first.runId : null;
      expect(again).toEqual({ outcome: 'existing', runId });
      expect((await stage.store.runs({}, { limit: 10, cursor: null })).items.length).toBe(1);
      if (runId !== null)
        expect((await stage.story(runId)).filter((type) => type === 'RunCreated')).toEqual(['RunCreated']);
    });

    test('000 §375.1: another process, and one that starts later, give the same run for the same request', async (stage) => {
      const plan = stage.plan([job('a')]);
      const [one, two] = [await stage.host(), await stage.host()];
      const raced = await Promise.all([one, two, one, two].map((host) => stage.request(host, plan, 'request-1')));
      const later = await stage.request(await stage.host(), plan, 'request-1');
      const ids = new Set(
        [...raced, later].map((result) => (result.outcome === 'rejected' ? result.code : result.runId)),
      );
      expect(ids.size).toBe(1);
      expect(raced.filter(({ outcome }) => outcome === 'created').length).toBe(1);
      expect((await stage.store.runs({}, { limit: 10, cursor: null })).items.length).toBe(1);
    });

    test('S39: the same request with another plan is refused as RunExists and changes nothing', async (stage) => {
      const host = await stage.host();
      await stage.request(host, stage.plan([job('a')]), 'request-1');
      const other = await stage.request(host, stage.plan([job('b')]), 'request-1');
      expect(other).toMatchObject({ outcome: 'rejected', code: 'RunExists' });
      expect((await stage.store.runs({}, { limit: 10, cursor: null })).items.length).toBe(1);
    });

    test('000 §375.1: the request ids of two projects are strangers', async (stage) => {
      const host = await stage.host();
      const first = await stage.request(host, stage.plan([job('a')]), 'request-1');
      const second = await stage.request(host, stage.plan([job('a')], { project: 'other' }), 'request-1');
      expect([first.outcome, second.outcome]).toEqual(['created', 'created']);
    });

    test('000 §375.2: creation judges the graph: roots are Eligible, the rest is Pending', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a'), job('b', { needs: ['a'] }), job('c')]);
      expect(await stage.states(run)).toEqual({ run: 'Queued', a: 'Eligible', b: 'Pending', c: 'Eligible' });
    });

    test('000 §376.29: plan, source and spec identities stay what they were at creation', async (stage) => {
      const host = await stage.host();
      const plan = stage.plan([job('a')]);
      const created = await stage.request(host, plan, 'request-1');
      if (created.outcome !== 'created') throw new Error(created.outcome);
      const runner = await stage.runner(host, 'ada');
      const before = await stage.job(created.runId, 'a');
      await runner.succeed(await runner.take('a'));
      const [attempt] = await stage.attempts(created.runId, 'a');
      expect((await stage.run(created.runId)).planDigest).toBe(fakeDigest(JSON.stringify(plan)));
      expect((await stage.store.load(created.runId))?.plan).toEqual(plan);
      expect(attempt?.specDigest).toBe(before.specDigest);
    });

    test('a rerun is a new run of the same plan, linked to the old one, once per request', async (stage) => {
      const host = await stage.host();
      const run = await stage.create(host, [job('a')]);
      const only = { id: 'user:retrier', permissions: new Set(['run.retry'] as const) };
      const rerun = await host.runtime.runs.retry(run, { actor: only });
      if (rerun.outcome !== 'created') throw new Error(JSON.stringify(rerun));
      expect(await stage.run(rerun.runId)).toMatchObject({ rerunOf: run, createdBy: 'user:retrier', state: 'Queued' });
      expect(await host.runtime.runs.retry(run, { actor: user })).toMatchObject({ outcome: 'created' });
    });
  });
}
