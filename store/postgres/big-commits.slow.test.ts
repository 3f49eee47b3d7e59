/** Commits of more rows than one statement takes: several statements, still one commit. */
import { expect, it } from 'vitest';
import { postgresSubjects } from '../../conformance/postgres-server/index.ts';
import type { JobRow } from '../../machines/index.ts';
import type { StoreFailpoint } from '../contract.ts';
import { changeStep, grantStep, id } from '../suite/index.ts';
import { fixedClock, onServers } from './test-support/on-servers.ts';
import { commitStep, newRun } from './test-support/sample.ts';

const jobs = 4_500;
const nodes = Array.from({ length: jobs }, (_, index) =>
  index % 3 === 0 ? {} : { needs: [{ upstream: index - 1, condition: 'success', required: true } as const] },
);

onServers(await postgresSubjects(), 'postgres: big commits', (bench) => {
  it('are created, loaded and cancelled as one', async () => {
    const store = await bench.open({ clock: fixedClock });
    const created = await commitStep(store, newRun(store, 'big', nodes));
    expect((await store.load(created.run.id))?.nodes).toEqual(created.nodes);
    const now = store.now();
    const cancelled = created.nodes.flatMap((node): JobRow[] =>
      node.kind === 'job' ? [{ ...node, state: 'Cancelled', finishedAt: now, version: 2 }] : [],
    );
    const ended = await commitStep(store, changeStep(created, { jobs: cancelled }, now));
    expect((await store.load(created.run.id))?.nodes).toEqual(ended.nodes);
    expect(await store.counts([created.run.id])).toEqual(
      new Map([[created.run.id, { jobs, byState: { Cancelled: jobs } }]]),
    );
    const [first] = await store.claimOutbox({ limit: 1, claimMs: 1_000, token: 'a' });
    expect([first?.first, first?.last]).toEqual([1, 1]);
    await store.settleOutbox([{ runId: created.run.id, first: 1, token: 'a', retryAt: null }]);
    const [batch] = await store.claimOutbox({ limit: 1, claimMs: 1_000, token: 'b' });
    expect(batch?.facts.map(({ sequence }) => sequence)).toEqual(ended.run.sequence === 1 + jobs ? sequences(2) : []);
    expect((await store.check()).problems).toEqual([]);
  });

  it('one row too many in the last statement takes all of them back', async () => {
    const store = await bench.open({ clock: fixedClock });
    const created = await commitStep(store, newRun(store, 'big', nodes));
    const moved = created.nodes.flatMap((node): JobRow[] => (node.kind === 'job' ? [{ ...node, version: 2 }] : []));
    const last = moved.at(-1);
    if (last === undefined) throw new Error('no job');
    const step = changeStep(created, { jobs: [...moved, { ...last, id: id(`${last.id}-other`) }] }, store.now());
    const other = newRun(store, 'other');
    const outcomes = await store.commit([step.commit, other.commit]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'committed']);
    expect((await store.load(created.run.id))?.nodes).toEqual(created.nodes);
  });

  it('stopped between two statements nothing of them is left, and the run is free (000 §376.11)', async () => {
    let stopAt: StoreFailpoint | null = null;
    const hook = (point: StoreFailpoint) => {
      if (point === stopAt) throw new Error(`stopped at ${point}`);
    };
    const store = await bench.open({ clock: fixedClock, hook });
    const small = await commitStep(store, newRun(store, 'small'));
    stopAt = 'commit:between-statements';
    const big = newRun(store, 'big', nodes);
    const granted = grantStep(small, { index: 0, now: store.now() });
    await expect(store.commit([big.commit])).rejects.toThrow(/stopped/);
    stopAt = null;
    expect(await store.sequence(big.rows.run.id)).toBe(null);
    expect((await store.commit([big.commit, granted.commit])).map(({ kind }) => kind)).toEqual([
      'committed',
      'committed',
    ]);
  });
});

const sequences = (from: number): readonly number[] => Array.from({ length: jobs }, (_, place) => from + place);
