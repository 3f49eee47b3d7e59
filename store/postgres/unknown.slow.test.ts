/** S4 on a real connection: a commit that is cut off is unknown, and receipts on a new connection tell which it was. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PostgresProxy } from '../../conformance/postgres-server/index.ts';
import { createPostgresProxy, postgresSubjects } from '../../conformance/postgres-server/index.ts';
import type { MessageId, RunId } from '../../machines/index.ts';
import type { Store } from '../contract.ts';
import { StoreUnavailable } from '../contract.ts';
import { grantStep, id } from '../suite/index.ts';
import { onServers } from './test-support/on-servers.ts';
import { commitStep, newRun } from './test-support/sample.ts';

onServers(await postgresSubjects(), 'postgres: unknown outcomes', (bench) => {
  let proxy: PostgresProxy;
  let store: Store;
  beforeEach(async () => {
    const { hostname, port } = new URL(bench.url());
    proxy = await createPostgresProxy({ host: hostname, port: Number(port) });
    store = await bench.open({ url: proxy.url(bench.url()) });
  });
  afterEach(() => proxy.close());

  const granted = async (runId: RunId) => ({
    receipts: (await store.receipts(runId, [id<MessageId>('grant')])).length,
    sequence: await store.sequence(runId),
  });

  it('cut before the server heard of it: unknown, and nothing happened (003 §303.4)', async () => {
    const rows = await commitStep(store, newRun(store, 'run'));
    const step = grantStep(rows, { index: 0, now: store.now(), message: 'grant' });
    const cut = proxy.cutAt('commit_v1', 'before');
    const [outcome] = await store.commit([step.commit]);
    await cut;
    expect(outcome?.kind).toBe('unknown');
    expect(await granted(rows.run.id)).toEqual({ receipts: 0, sequence: 1 });
    expect(await store.commit([step.commit])).toEqual([{ kind: 'committed' }]);
  });

  it('cut after the server committed: unknown, and the receipt says it is done (003 §303.4)', async () => {
    const rows = await commitStep(store, newRun(store, 'run'));
    const step = grantStep(rows, { index: 0, now: store.now(), message: 'grant' });
    const cut = proxy.cutAt('commit_v1', 'after');
    const [outcome] = await store.commit([step.commit]);
    await cut;
    expect(outcome?.kind).toBe('unknown');
    expect(await granted(rows.run.id)).toEqual({ receipts: 1, sequence: step.rows.run.sequence });
    expect(await store.commit([step.commit])).toEqual([{ kind: 'duplicate', messages: ['grant'] }]);
  });

  it('all commits of a batch share its fate', async () => {
    const runs = ['a', 'b', 'c'].map((name) => newRun(store, name));
    const cut = proxy.cutAt('commit_v1', 'after');
    const outcomes = await store.commit(runs.map(({ commit }) => commit));
    await cut;
    expect(outcomes.map(({ kind }) => kind)).toEqual(['unknown', 'unknown', 'unknown']);
    expect(await store.sequence(id('b'))).toBe(1);
  });

  it('a commit of several statements is unknown only from its COMMIT on', async () => {
    const points: string[] = [];
    const stepwise = await bench.open({ url: proxy.url(bench.url()), hook: (point) => void points.push(point) });
    const before = proxy.cutAt('commit_v1', 'after');
    await expect(stepwise.commit([newRun(store, 'a').commit])).rejects.toThrow(/lost/);
    await before;
    expect(await store.sequence(id('a'))).toBe(null);

    const after = proxy.cutAt('COMMIT', 'after');
    expect((await stepwise.commit([newRun(store, 'a').commit])).map(({ kind }) => kind)).toEqual(['unknown']);
    await after;
    expect(points.at(-1)).toBe('commit:before-commit');
    expect(await store.sequence(id('a'))).toBe(1);
  });

  it('where nothing can be sent nothing happened, and the caller hears so', async () => {
    const cut = proxy.cutAt('sequence', 'before');
    proxy.refuse(true);
    // The pool loses the only connection it has, and gets no other.
    await expect(store.sequence(id('run'))).rejects.toThrow(/connection/);
    await cut;
    await expect(store.commit([newRun(store, 'run').commit])).rejects.toThrow(StoreUnavailable);
    proxy.refuse(false);
    expect(await store.sequence(id('run'))).toBe(null);
  });

  it('a read is asked again on a new connection', async () => {
    await commitStep(store, newRun(store, 'run'));
    const cut = proxy.cutAt('sequence', 'after');
    expect(await store.sequence(id('run'))).toBe(1);
    await cut;
  });
});
