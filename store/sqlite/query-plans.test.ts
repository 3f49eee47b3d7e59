/** No statement of the store walks a whole hot table or sorts it: each is served by an index (003 §94). */
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, it, vi } from 'vitest';
import type { Store } from '../contract.ts';
import { changeStep, deadline, grantStep, id, jobAt } from '../suite/index.ts';
import { openSqliteStore } from './index.ts';
import { commitStep, newRun, sampleClock, temporaryDirectory, writeSample } from './test-support/sample-file.ts';

afterEach(() => vi.restoreAllMocks());

/** Sorts and walks that are bounded by something small, each with the reason. */
const bounded: readonly RegExp[] = [
  /FROM timers WHERE run_id = \? ORDER BY due_at/, // the timers of one run, for a person
  /FROM runs WHERE id >= \? AND id < \?/, // the runs that share a typed prefix
  /FROM jobs WHERE run_id = \? GROUP BY state/, // thirteen groups
];

/** Every read and every write of the contract but `check`, which looks at everything by intent. */
async function useEverything(store: Store): Promise<void> {
  const created = newRun('plans', [{}, { kind: 'gate' }, {}]);
  const run = created.rows.run.id;
  const job = jobAt(created.rows, 0).id;
  const timers = { set: [deadline('d', store.now())], cancel: ['e'] };
  let rows = await commitStep(store, created);
  rows = await commitStep(store, grantStep(rows, { index: 0, now: store.now() }));
  rows = await commitStep(store, changeStep(rows, { timers, run: { priority: 4, version: 9 } }, store.now()));
  await store.load(run);
  await store.receipts(run, [id('create-plans')]);
  await store.findRunByRequest('suite', 'request-plans');
  await store.attempts(run, {});
  await store.attempts(run, { job });
  for (const live of [true, false]) {
    await store.leases(run, { live });
    await store.leases(run, { live, job });
  }
  await store.sessionLeases(id('session-1'));
  await store.touchSession(id('session-1'));
  await store.renew([{ runId: run, jobId: id('j'), lease: id('l'), attempt: id('a'), epoch: 1, session: id('s') }]);
  await store.eligible({ capabilities: [], limit: 5 });
  await store.eligible({ capabilities: [], limit: 5, runId: run });
  await store.nextTimerAt();
  const claimed = await store.claimTimers({ limit: 5, claimMs: 1, token: 't' });
  await store.settleTimers(claimed.map(({ runId, deadline: { key }, token }) => ({ runId, key, token, rearmAt: 1 })));
  await store.timers(run);
  const batches = await store.claimOutbox({ limit: 5, claimMs: 1, token: 't' });
  await store.settleOutbox(
    batches.map(({ runId, first, token }, place) => ({ runId, first, token, retryAt: place === 0 ? 1 : null })),
  );
  await store.facts(run, { after: 1, limit: 5 });
  await store.feed({ after: 1, limit: 5 });
  await store.runs({}, { limit: 5, cursor: '1:plans' });
  await store.runs({ idPrefix: 'pl' }, { limit: 5, cursor: null });
  await store.runs({ project: 'suite', concurrencyGroup: 'main', states: ['Queued'] }, { limit: 5, cursor: null });
  await store.counts([run]);
  await store.findJobs({ idPrefix: 'pl', limit: 5 });
  await store.findGates({ idPrefix: 'pl', limit: 5 });
  await store.auditLog({ limit: 5 });
  await store.auditLog({ limit: 5, runId: run });
  for (const kind of ['active-runs', 'lost-jobs', 'live-leases', 'due-retries'] as const) {
    await store.scan({ kind, cursor: 'a/1', limit: 5 });
  }
  await store.cacheLookup({ project: 'p', key: 'k', specDigest: id('d') });
}

it('sqlite: every statement is served by an index', async () => {
  await using directory = await temporaryDirectory();
  await writeSample(directory.file());
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  const store = openSqliteStore({ file: directory.file(), clock: sampleClock });
  await useEverything(store);
  const statements = new Set(
    prepare.mock.calls.map(([sql]) => sql).filter((sql) => !/^(PRAGMA|SAVEPOINT|RELEASE)/.test(sql)),
  );
  vi.restoreAllMocks();
  await store.close();

  using database = new DatabaseSync(directory.file());
  const walks = [...statements].flatMap((sql) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail))
      .filter((detail) =>
        /^SCAN (runs|jobs|gates|attempts|leases|events|outbox|timers|receipts)\b(?!.*USING)|TEMP B-TREE/.test(detail),
      )
      .map((detail) => `${detail}: ${sql}`)
      .filter((walk) => !bounded.some((each) => each.test(walk))),
  );
  expect(statements.size).toBeGreaterThan(45);
  expect(walks).toEqual([]);
});
