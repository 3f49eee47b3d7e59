/** The server crashes under load and comes back: what was confirmed is there, what was not is whole or absent. */
import { expect, it } from 'vitest';
import { startPostgresServer } from '../../conformance/postgres-server/index.ts';
import type { MessageId } from '../../machines/index.ts';
import type { CommitOutcome } from '../contract.ts';
import { id } from '../suite/index.ts';
import { migratePostgres, openPostgresStore } from './index.ts';
import { monotonicMs } from './test-support/on-servers.ts';
import { newRun } from './test-support/sample.ts';

const rounds = 4;
const runsPerRound = 60;
const crashAfter = 10;

it('postgres: a crash of the server loses nothing that was confirmed (000 §375.4, 003 §301.1)', async () => {
  await using server = await startPostgresServer();
  const url = server.url('postgres');
  await migratePostgres(url);
  const store = await openPostgresStore({ url, monotonicMs, connectionsMax: 4 });
  const heard = new Map<string, CommitOutcome['kind'] | 'nothing'>();
  for (let round = 0; round < rounds; round += 1) {
    let answered = 0;
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const commits = Array.from({ length: runsPerRound }, async (_, place) => {
      const name = `run-${round}-${place}`;
      const outcome = await store.commit([newRun(store, name).commit]).then(
        ([first]) => first?.kind ?? 'nothing',
        () => 'nothing' as const,
      );
      heard.set(name, outcome);
      answered += 1;
      if (answered === crashAfter) resolve();
    });
    await enough;
    await server.crash();
    await Promise.all(commits);
    await server.start();
  }
  const counts = { committed: 0, unknown: 0, nothing: 0 };
  for (const [name, outcome] of heard) {
    const sequence = await store.sequence(id(name));
    const receipts = (await store.receipts(id(name), [id<MessageId>(`create-${name}`)])).length;
    // The receipt tells which it was: it is there exactly when the rest is.
    expect([name, receipts]).toEqual([name, sequence === null ? 0 : 1]);
    if (outcome === 'committed') expect([name, sequence]).toEqual([name, 1]);
    if (outcome === 'nothing') expect([name, sequence]).toEqual([name, null]);
    if (outcome === 'committed' || outcome === 'unknown' || outcome === 'nothing') counts[outcome] += 1;
  }
  expect((await store.check()).problems).toEqual([]);
  // A crash that met no commit on its way would have shown nothing.
  expect(counts.committed).toBeGreaterThanOrEqual(rounds * crashAfter);
  expect(counts.unknown).toBeGreaterThan(0);
  await store.close();
});
