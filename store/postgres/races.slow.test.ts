/** Several processes on one database, as several pools: whoever loses a race changes nothing and is told. */
import { expect, it } from 'vitest';
import { postgresSubjects } from '../../conformance/postgres-server/index.ts';
import type { RunCommit, Store } from '../contract.ts';
import type { RunRows, Step } from '../suite/index.ts';
import { acceptStep, changeStep, currentLease, expireStep, grantStep, id, jobAt } from '../suite/index.ts';
import { fixedClock, onServers } from './test-support/on-servers.ts';
import { commitStep, held, newRun } from './test-support/sample.ts';

const processes = 4;

onServers(await postgresSubjects(), 'postgres races', (bench) => {
  const handles = async (options = {}) =>
    Promise.all(Array.from({ length: processes }, () => bench.open({ connectionsMax: 3, ...options })));

  it('of many grants decided on the same rows exactly one is committed, round after round (000 §375.5)', async () => {
    const stores = await handles({ clock: fixedClock });
    const [first] = stores;
    if (first === undefined) throw new Error('no store');
    let rows = await commitStep(
      first,
      newRun(
        first,
        'run',
        Array.from({ length: 12 }, () => ({})),
      ),
    );
    for (let index = 0; index < 12; index += 1) {
      const steps = stores.map((store, place) =>
        grantStep(rows, { index, now: store.now(), message: `grant-${index}-${place}` }),
      );
      const outcomes = await Promise.all(stores.map((store, place) => store.commit(commitsOf(steps[place]))));
      const kinds = outcomes.map(([outcome]) => outcome?.kind);
      expect(kinds.filter((kind) => kind === 'committed').length).toBe(1);
      expect(kinds.filter((kind) => kind === 'conflict').length).toBe(processes - 1);
      rows = steps[kinds.indexOf('committed')]?.rows ?? rows;
    }
    expect((await first.leases(rows.run.id, {})).length).toBe(12);
    expect((await first.check()).problems).toEqual([]);
  });

  it('batches of the same runs in opposite order never wait for each other for good', async () => {
    const [one, two] = await handles({ clock: fixedClock });
    if (one === undefined || two === undefined) throw new Error('no store');
    const names = Array.from({ length: 20 }, (_, place) => `run-${String(place).padStart(2, '0')}`);
    let rows: RunRows[] = [];
    for (const name of names) rows.push(await commitStep(one, newRun(one, name)));
    for (let round = 0; round < 10; round += 1) {
      const touch = (message: string) => rows.map((each) => changeStep(each, { message }, one.now()));
      const forward = touch(`one-${round}`).map(({ commit }) => commit);
      const backward = touch(`two-${round}`)
        .map(({ commit }) => commit)
        .reverse();
      const outcomes = await Promise.all([one.commit(forward), two.commit(backward)]);
      // Commits without facts do not move the sequence: both may pass, none may fail.
      expect(new Set(outcomes.flat().map(({ kind }) => kind))).toEqual(new Set(['committed']));
    }
    rows = [];
  });

  it('one request from many processes at once makes one run (000 §375.1)', async () => {
    const stores = await handles();
    for (let round = 0; round < 5; round += 1) {
      const outcomes = await Promise.all(
        stores.map((store, place) => {
          const { commit } = newRun(store, `run-${round}-${place}`);
          return store.commit([{ ...commit, run: { ...commit.run, requestId: `request-${round}` } }]);
        }),
      );
      const kinds = outcomes.map(([outcome]) => outcome?.kind).sort();
      expect(kinds).toEqual(['committed', ...Array.from({ length: processes - 1 }, () => 'exists')]);
    }
  });

  it('one message from many processes at once is written once (000 §376.12)', async () => {
    const stores = await handles({ clock: fixedClock });
    const [first] = stores;
    if (first === undefined) throw new Error('no store');
    const rows = await commitStep(first, newRun(first, 'run'));
    for (let round = 0; round < 10; round += 1) {
      const noOp = changeStep(rows, { message: `message-${round}` }, first.now());
      const outcomes = await Promise.all(stores.map((store) => store.commit([noOp.commit])));
      const kinds = outcomes.map(([outcome]) => outcome?.kind).sort();
      expect(kinds).toEqual(['committed', ...Array.from({ length: processes - 1 }, () => 'duplicate')]);
    }
  });

  it('renewal against expiry: either the lease is renewed or it has expired, never both (000 §375.19)', async () => {
    let now = 1_750_000_000_000;
    const [renewing, expiring] = await handles({ clock: { now: () => now } });
    if (renewing === undefined || expiring === undefined) throw new Error('no store');
    const seen = new Set<string>();
    for (let round = 0; round < 12; round += 1) {
      const { creditSequence } = await expiring.heartbeat({ gapMs: 600_000 });
      const rows = await held(renewing, `run-${round}`);
      const lease = currentLease(rows, 0);
      // Renewals are sent a moment before the time is up, expiries a moment after: which comes first is open.
      now += lease.ttlMs - 1;
      const renewal = { ...lease, lease: lease.id, attempt: lease.attemptId };
      const renewed = renewing.renew([renewal]);
      now += 1;
      const expired = expiring.commit([expireStep(rows, { index: 0, now, creditSequence }).commit]);
      const [[outcome], [commit]] = await Promise.all([renewed, expired]);
      if (outcome?.kind === 'renewed') expect(commit).toEqual({ kind: 'conflict', why: 'guard' });
      else expect([outcome?.kind, commit?.kind]).toEqual(['stale', 'committed']);
      seen.add(String(outcome?.kind));
    }
    expect((await renewing.check()).problems).toEqual([]);
  });

  it('a session that closes while its lease is credited leaves it no time (000 §268)', async () => {
    const [closing, crediting] = await handles({ clock: fixedClock });
    if (closing === undefined || crediting === undefined) throw new Error('no store');
    const now = closing.now();
    for (let round = 0; round < 10; round += 1) {
      const session = {
        id: id<Parameters<typeof closing.session>[0]>(`session-${round}`),
        runner: id<RunRows['run']['id'] & never>(`runner-${round}`),
        name: 'one',
        host: null,
        capabilities: [],
        slots: 1,
        state: 'Active' as const,
        reason: null,
        openedAt: now,
        lastSeenAt: now,
        endedAt: null,
        version: 1,
      };
      await closing.openSession(session);
      let rows = await commitStep(closing, newRun(closing, `run-${round}`));
      rows = await commitStep(closing, grantStep(rows, { index: 0, now, session: session.id }));
      rows = await commitStep(closing, acceptStep(rows, { index: 0, now }));
      const lease = currentLease(rows, 0);
      const credited = { ...lease, expiresAt: lease.expiresAt + 9_000, creditMs: 9_000, version: lease.version + 1 };
      await Promise.all([
        closing.updateSession({ ...session, state: 'Closed', endedAt: now, version: 2 }),
        crediting.commit([changeStep(rows, { leases: [credited] }, now).commit]),
      ]);
      expect((await closing.leases(rows.run.id, {}))[0]?.expiresAt).toBe(now);
    }
  });

  it('what one claims nobody else does: timers and outbox (000 §376.20)', async () => {
    const stores = await handles({ clock: fixedClock });
    const [first] = stores;
    if (first === undefined) throw new Error('no store');
    const now = first.now();
    for (let place = 0; place < 30; place += 1) {
      const rows = await commitStep(first, newRun(first, `run-${place}`));
      const timer = { key: 'a', kind: 'retry', dueAt: now, entity: 'e', attempt: null, lease: null } as const;
      await commitStep(first, changeStep(rows, { timers: { set: [timer] } }, now));
    }
    const timers = await Promise.all(
      stores.map((store, place) => store.claimTimers({ limit: 10, claimMs: 60_000, token: `t-${place}` })),
    );
    const batches = await Promise.all(
      stores.map((store, place) => store.claimOutbox({ limit: 10, claimMs: 60_000, token: `o-${place}` })),
    );
    const claimed = timers.flat().map(({ runId }) => runId);
    expect(new Set(claimed).size).toBe(claimed.length);
    const published = batches.flat().map(({ runId }) => runId);
    expect(new Set(published).size).toBe(published.length);
    expect(Math.min(claimed.length, published.length)).toBeGreaterThanOrEqual(10);
  });

  it('facts that are added while batches are claimed and settled are delivered, none twice, in order (003 §303.10)', async () => {
    const [writing, ...publishing] = await handles({ clock: fixedClock });
    if (writing === undefined) throw new Error('no store');
    const jobs = 25;
    const steps = Array.from({ length: 40 }, (_, place) =>
      newRun(
        writing,
        `run-${place}`,
        Array.from({ length: jobs }, () => ({})),
      ),
    );
    await writing.commit(steps.map(({ commit }) => commit));
    let runs = steps.map(({ rows }) => rows);
    const delivered = new Map<string, number[]>(runs.map(({ run }) => [run.id, []]));
    let done = false;
    // Every claim looks at all runs while one commit moves all of them, and gives every second batch back first.
    const publish = async (store: Store, name: string): Promise<void> => {
      for (let round = 0, empty = 0; empty < 2; round += 1) {
        const batches = await store.claimOutbox({ limit: 100, claimMs: 60_000, token: `${name}-${round}` });
        if (batches.length === 0 && done) empty += 1;
        for (const { runId, first, last, facts, attempts } of batches) {
          expect(facts.map(({ sequence }) => sequence)).toEqual(range(first, last));
          if (attempts > 1) delivered.get(runId)?.push(...facts.map(({ sequence }) => sequence));
        }
        await store.settleOutbox(
          batches.map(({ runId, first, token, attempts }) => ({
            runId,
            first,
            token,
            retryAt: attempts > 1 ? null : store.now(),
          })),
        );
      }
    };
    const publishers = publishing.map((store, place) => publish(store, `publisher-${place}`));
    for (let index = 0; index < jobs; index += 1) {
      const grants = runs.map((rows) => grantStep(rows, { index, now: writing.now() }));
      const outcomes = await writing.commit(grants.map(({ commit }) => commit));
      expect(outcomes.every(({ kind }) => kind === 'committed')).toBe(true);
      runs = grants.map(({ rows }) => rows);
    }
    done = true;
    await Promise.all(publishers);
    for (const { run } of runs) expect(delivered.get(run.id)).toEqual(range(1, run.sequence));
  });

  it('a reader of the feed misses nothing that was committed out of turn (003 §303.10)', async () => {
    const stores = await handles({ clock: fixedClock });
    const [reader] = stores;
    if (reader === undefined) throw new Error('no store');
    const seen: string[] = [];
    let after = 0;
    let done = false;
    const read = async (): Promise<void> => {
      for (;;) {
        const last = done;
        const page = await reader.feed({ after, limit: 7 });
        seen.push(...page.items.map(({ runId, sequence }) => `${runId}/${sequence}`));
        after = page.next ?? after;
        if (page.next === null && last) return;
      }
    };
    const reading = read();
    await Promise.all(
      stores.map(async (store, place) => {
        let rows = await commitStep(
          store,
          newRun(
            store,
            `run-${place}`,
            Array.from({ length: 15 }, () => ({})),
          ),
        );
        for (let index = 0; index < 15; index += 1) {
          rows = await commitStep(store, grantStep(rows, { index, now: store.now() }));
        }
      }),
    );
    done = true;
    await reading;
    expect(seen.length).toBe(processes * (1 + 15 * 3));
    expect(new Set(seen).size).toBe(seen.length);
    for (let place = 0; place < processes; place += 1) {
      const own = seen.flatMap((each) => (each.startsWith(`run-${place}/`) ? [Number(each.split('/')[1])] : []));
      expect(own).toEqual(own.toSorted((a, b) => a - b));
    }
  });

  it('first beats of many hearts grant one credit', async () => {
    const stores = await handles();
    const beats = await Promise.all(stores.map((store) => store.heartbeat({ gapMs: 60_000 })));
    expect(beats.map(({ creditSequence }) => creditSequence)).toEqual(stores.map(() => 1));
    expect((await stores[0]?.credits(0))?.length).toBe(1);
  });

  it('sessions of one runner opened at once: one of them lives', async () => {
    const stores = await handles();
    const now = stores[0]?.now() ?? 0;
    await Promise.all(
      stores.map((store, place) =>
        store.openSession({
          id: id(`session-${place}`),
          runner: id('runner'),
          name: 'one',
          host: null,
          capabilities: [],
          slots: 1,
          state: 'Active',
          reason: null,
          openedAt: now,
          lastSeenAt: now,
          endedAt: null,
          version: 1,
        }),
      ),
    );
    expect((await stores[0]?.sessions({ live: true }))?.length).toBe(1);
    expect((await stores[0]?.sessions({ live: false }))?.length).toBe(processes);
  });

  it('grants of different jobs of different runs never meet', async () => {
    const stores = await handles({ clock: fixedClock });
    const outcomes = await Promise.all(
      stores.map(async (store, place) => {
        const rows = await commitStep(store, newRun(store, `run-${place}`));
        const granted = await commitStep(store, grantStep(rows, { index: 0, now: store.now() }));
        return jobAt(granted, 0).state;
      }),
    );
    expect(outcomes).toEqual(stores.map(() => 'Leased'));
  });
});

const range = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, place) => first + place);

const commitsOf = (step: Step | undefined): readonly RunCommit[] => (step === undefined ? [] : [step.commit]);
