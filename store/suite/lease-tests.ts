/** S7: renewals against expiry, and what sessions do to their leases. */
import type { SessionId } from '../../machines/index.ts';
import type { Renewal } from '../contract.ts';
import { newSession, useBench } from './bench.ts';
import type { RunRows } from './change.ts';
import { id } from './ids.ts';
import { expireStep, grantStep, phaseStep } from './job-steps.ts';
import { changeStep, currentLease, jobAt } from './run-script.ts';
import type { MakeStore, SuiteRunner } from './subject.ts';

function renewalOf(rows: RunRows, index = 0): Renewal {
  const lease = currentLease(rows, index);
  return {
    runId: rows.run.id,
    jobId: lease.jobId,
    lease: lease.id,
    attempt: lease.attemptId,
    epoch: lease.epoch,
    session: lease.session,
  };
}

export function leaseTests(runner: SuiteRunner, make: MakeStore): void {
  const test = useBench(runner, make);
  const { expect, describe } = runner;

  describe('renewal', () => {
    test('moves the expiry to now plus the time to live, and writes no fact (000 §42, 000 §376.21, 003 §301.11)', async (bench) => {
      const rows = await bench.createHeld();
      bench.advance(10_000);
      const expiresAt = bench.now() + 30_000;
      expect(await bench.store.renew([renewalOf(rows)])).toEqual([{ kind: 'renewed', expiresAt, intent: null }]);
      await bench.reopen();
      expect(await bench.store.leases(rows.run.id, {})).toEqual([
        { ...currentLease(rows, 0), expiresAt, renewedAt: bench.now() },
      ]);
      expect(await bench.store.sequence(rows.run.id)).toBe(rows.run.sequence);
    });

    test('first, it beats a later expiry decided before it', async (bench) => {
      await bench.beat(60_000);
      const rows = await bench.createHeld();
      bench.advance(29_999);
      const creditSequence = await bench.beat(60_000);
      const expire = expireStep(rows, { index: 0, now: bench.now() + 1, creditSequence });
      expect((await bench.store.renew([renewalOf(rows)]))[0]?.kind).toBe('renewed');
      bench.advance(1);
      expect(await bench.commit(expire)).toEqual({ kind: 'conflict', why: 'guard' });
    });

    test('after the expiry was committed it is stale; after the time alone it is expired', async (bench) => {
      await bench.beat(60_000);
      const rows = await bench.createHeld();
      bench.advance(30_000);
      expect(await bench.store.renew([renewalOf(rows)])).toEqual([{ kind: 'expired' }]);
      const creditSequence = await bench.beat(60_000);
      await bench.apply(expireStep(rows, { index: 0, now: bench.now(), creditSequence }));
      expect(await bench.store.renew([renewalOf(rows)])).toEqual([{ kind: 'stale' }]);
    });

    test('every part of the authority counts (000 §375.19, 000 §376.4)', async (bench) => {
      const rows = await bench.createHeld();
      const valid = renewalOf(rows);
      const wrong: readonly Renewal[] = [
        { ...valid, epoch: valid.epoch + 1 },
        { ...valid, epoch: 0 },
        { ...valid, session: id('another') },
        { ...valid, attempt: id('another') },
        { ...valid, lease: id('another') },
        { ...valid, jobId: id('another') },
        { ...valid, runId: id('another') },
      ];
      const outcomes = await bench.store.renew([...wrong, valid]);
      expect(outcomes.map(({ kind }) => kind)).toEqual([...wrong.map(() => 'stale'), 'renewed']);
    });

    test('an offer is not renewed', async (bench) => {
      const rows = await bench.apply(grantStep(await bench.create(), { index: 0, now: bench.now() }));
      expect(await bench.store.renew([renewalOf(rows)])).toEqual([{ kind: 'stale' }]);
    });

    test('never goes past the job’s terminateBy and carries the intent, but takes nothing back', async (bench) => {
      const held = await bench.createHeld();
      const job = jobAt(held, 0);
      const terminateBy = bench.now() + 35_000;
      const intent = { kind: 'Cancelled', reason: 'OperatorCancelled' } as const;
      const stopping = { ...job, intent, terminateBy, version: job.version + 1 };
      const rows = await bench.apply(changeStep(held, { jobs: [stopping] }, bench.now()));
      bench.advance(20_000);
      expect(await bench.store.renew([renewalOf(rows)])).toEqual([{ kind: 'renewed', expiresAt: terminateBy, intent }]);
      const sooner = { ...stopping, terminateBy: bench.now() + 1, version: stopping.version + 1 };
      await bench.apply(changeStep(rows, { jobs: [sooner] }, bench.now()));
      expect(await bench.store.renew([renewalOf(rows)])).toEqual([{ kind: 'renewed', expiresAt: terminateBy, intent }]);
      expect((await bench.store.leases(rows.run.id, {}))[0]?.expiresAt).toBe(terminateBy);
    });

    test('survives a commit that was decided on the older lease row', async (bench) => {
      const rows = await bench.createHeld();
      bench.advance(10_000);
      const lease = currentLease(rows, 0);
      const credited = { ...lease, expiresAt: lease.expiresAt + 1_000, creditMs: 1_000, version: lease.version + 1 };
      const credit = changeStep(rows, { leases: [credited], run: { creditSequence: 1 } }, bench.now());
      await bench.store.renew([renewalOf(rows)]);
      await bench.apply(credit);
      const [after] = await bench.store.leases(rows.run.id, {});
      expect(after).toEqual({ ...credited, expiresAt: bench.now() + 30_000, renewedAt: bench.now(), creditMs: 0 });
    });

    test('without a renewal in between, a commit’s later expiry stands', async (bench) => {
      const rows = await bench.createHeld();
      const lease = currentLease(rows, 0);
      const credited = { ...lease, expiresAt: lease.expiresAt + 1_000, creditMs: 1_000, version: lease.version + 1 };
      await bench.apply(changeStep(rows, { leases: [credited] }, bench.now()));
      expect(await bench.store.leases(rows.run.id, {})).toEqual([credited]);
    });
  });

  describe('sessions', () => {
    test('a newer session of the same runner replaces the older one (000 §268)', async (bench) => {
      const first = await bench.openSession('session-1');
      const second = newSession('session-2', bench.now() + 1);
      expect(await bench.store.openSession(second)).toEqual({ replaced: [first.id] });
      await bench.reopen();
      expect(await bench.store.session(first.id)).toMatchObject({
        state: 'Replaced',
        version: 2,
        endedAt: bench.now(),
      });
      expect((await bench.store.sessions({ live: true })).map(({ id: each }) => each)).toEqual([second.id]);
      expect((await bench.store.sessions({ live: false })).length).toBe(2);
    });

    test('saying hello twice opens one session', async (bench) => {
      const session = await bench.openSession();
      expect(await bench.store.openSession(session)).toEqual({ replaced: [] });
      expect(await bench.store.session(session.id)).toEqual(session);
    });

    test('another runner’s session is left alone', async (bench) => {
      const first = await bench.openSession();
      const other = { ...newSession('session-2', bench.now()), runner: id<typeof first.runner>('runner-2') };
      expect(await bench.store.openSession(other)).toEqual({ replaced: [] });
    });

    test('an update is a compare-and-set on the version, and an ended session never changes', async (bench) => {
      const session = await bench.openSession();
      const draining = { ...session, state: 'Draining', version: 2 } as const;
      expect(await bench.store.updateSession(draining)).toBe('committed');
      expect(await bench.store.updateSession(draining)).toBe('conflict');
      const closed = { ...draining, state: 'Closed', endedAt: bench.now(), version: 3 } as const;
      expect(await bench.store.updateSession(closed)).toBe('committed');
      expect(await bench.store.updateSession({ ...session, version: 4 })).toBe('conflict');
      expect(await bench.store.session(session.id)).toEqual(closed);
      expect(await bench.store.updateSession({ ...session, id: id<SessionId>('unheard of') })).toBe('conflict');
    });

    test('last seen moves without a version, and only while the session lives', async (bench) => {
      const session = await bench.openSession();
      bench.advance(500);
      await bench.store.touchSession(session.id);
      expect(await bench.store.session(session.id)).toEqual({ ...session, lastSeenAt: bench.now() });
      await bench.openSession('session-2');
      const replaced = await bench.store.session(session.id);
      bench.advance(500);
      await bench.store.touchSession(session.id);
      expect(await bench.store.session(session.id)).toEqual(replaced);
    });

    test('its live leases are found in every run', async (bench) => {
      await bench.createHeld({ name: 'a' });
      const b = await bench.create({ name: 'b' });
      await bench.apply(grantStep(b, { index: 0, now: bench.now() }));
      const elsewhere = await bench.create({ name: 'c' });
      await bench.apply(changeStep(elsewhere, {}, bench.now()));
      const found = await bench.store.sessionLeases(id('session-1'));
      expect(found.map(({ runId, state }) => `${runId} ${state}`)).toEqual(['a Held', 'b Offered']);
      expect(await bench.store.sessionLeases(id('session-9'))).toEqual([]);
    });

    test('closing ends what it holds at once; a commit or renewal on its way brings nothing back', async (bench) => {
      const session = await bench.openSession();
      const rows = await bench.createHeld();
      const lease = currentLease(rows, 0);
      const credit = changeStep(rows, { leases: [{ ...lease, expiresAt: lease.expiresAt + 9_000 }] }, bench.now());
      bench.advance(1_000);
      await bench.store.updateSession({ ...session, state: 'Closed', endedAt: bench.now(), version: 2 });
      expect((await bench.store.leases(rows.run.id, {}))[0]?.expiresAt).toBe(bench.now());
      await bench.apply(credit);
      expect((await bench.store.leases(rows.run.id, {}))[0]?.expiresAt).toBe(bench.now());
      expect(await bench.store.renew([renewalOf(rows)])).toEqual([{ kind: 'expired' }]);
      const start = phaseStep(credit.rows, { index: 0, now: bench.now() });
      expect(await bench.commit(start)).toEqual({ kind: 'conflict', why: 'guard' });
    });

    test('closing late gives a lease that had run out no more time', async (bench) => {
      const session = await bench.openSession();
      const rows = await bench.createHeld();
      bench.advance(40_000);
      await bench.store.updateSession({ ...session, state: 'Closed', endedAt: bench.now(), version: 2 });
      expect((await bench.store.leases(rows.run.id, {}))[0]?.expiresAt).toBe(currentLease(rows, 0).expiresAt);
    });

    test('leases of a Replaced or Draining session live on and are renewed (000 §271)', async (bench) => {
      await bench.openSession();
      const rows = await bench.createHeld();
      await bench.openSession('session-2');
      bench.advance(5_000);
      expect((await bench.store.renew([renewalOf(rows)]))[0]?.kind).toBe('renewed');
    });
  });
}
