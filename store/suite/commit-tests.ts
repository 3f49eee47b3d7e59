/** S1-S3: compare-and-set, receipts, creation, guards. */
import type { LeaseId, MessageId, SessionId } from '../../machines/index.ts';
import { creation, useBench } from './bench.ts';
import { id } from './ids.ts';
import { acceptStep, expireStep, grantStep, phaseStep } from './job-steps.ts';
import { changeStep, currentAttempt, currentLease } from './run-script.ts';
import type { MakeStore, SuiteRunner } from './subject.ts';

export function commitTests(runner: SuiteRunner, make: MakeStore): void {
  const test = useBench(runner, make);
  const { expect, describe } = runner;

  describe('compare-and-set', () => {
    test('of two commits decided on the same rows one wins, the other changes nothing (000 §375.5)', async (bench) => {
      const rows = await bench.create({ nodes: [{}, {}] });
      const first = grantStep(rows, { index: 0, now: bench.now() });
      const second = grantStep(rows, { index: 1, now: bench.now() });
      expect(await bench.commit(first)).toEqual({ kind: 'committed' });
      await bench.reopen();
      expect(await bench.commit(second)).toEqual({ kind: 'conflict', why: 'sequence' });
      const loaded = await bench.store.load(rows.run.id);
      expect(loaded?.nodes.map(({ state }) => state)).toEqual(['Leased', 'Eligible']);
      expect(await bench.store.sequence(rows.run.id)).toBe(first.rows.run.sequence);
    });

    test('two grants of one job in one batch: one attempt, one lease (000 §375.5)', async (bench) => {
      const rows = await bench.create();
      const one = grantStep(rows, { index: 0, now: bench.now(), message: 'a' });
      const two = grantStep(rows, { index: 0, now: bench.now(), message: 'b' });
      const outcomes = await bench.store.commit([one.commit, two.commit]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['committed', 'conflict']);
      expect((await bench.store.leases(rows.run.id, {})).length).toBe(1);
      expect((await bench.store.attempts(rows.run.id, {})).length).toBe(1);
    });

    test('a commit for a run that is not there is a conflict', async (bench) => {
      const rows = creation({ name: 'nowhere' }, bench.now()).rows;
      expect(await bench.commit(grantStep(rows, { index: 0, now: bench.now() }))).toEqual({
        kind: 'conflict',
        why: 'sequence',
      });
      expect(await bench.store.load(rows.run.id)).toBe(null);
      expect(await bench.store.sequence(rows.run.id)).toBe(null);
    });

    test('a whole history survives and loads as it was committed', async (bench) => {
      let rows = await bench.createHeld({ nodes: [{ capabilities: ['linux', 'x64'] }, { kind: 'gate' }, {}] });
      rows = await bench.apply(phaseStep(rows, { index: 0, now: bench.now() + 5 }));
      await bench.reopen();
      const loaded = await bench.store.load(rows.run.id);
      expect(loaded?.run).toEqual(rows.run);
      expect(loaded?.nodes).toEqual(rows.nodes);
      expect(loaded?.plan.nodes.length).toBe(3);
      expect(loaded?.attempts).toEqual([currentAttempt(rows, 0)]);
      expect(loaded?.leases).toEqual([currentLease(rows, 0)]);
    });

    test('load hands out lists of its own', async (bench) => {
      const rows = await bench.create({ nodes: [{}, {}] });
      const first = await bench.store.load(rows.run.id);
      if (Array.isArray(first?.nodes)) first.nodes.length = 0;
      expect((await bench.store.load(rows.run.id))?.nodes.length).toBe(2);
    });

    test('one bad commit of a batch sinks no other, whatever is bad about it', async (bench) => {
      const good = creation({ name: 'good' }, bench.now());
      const rows = await bench.create({ name: 'bad' });
      const stale = { ...grantStep(rows, { index: 0, now: bench.now() }).commit, expectedSequence: 7 };
      const grant = grantStep(rows, { index: 0, now: bench.now() }).commit;
      const broken = { ...grant, run: { ...grant.run, sequence: 99 } };
      const other = creation({ name: 'other' }, bench.now());
      const outcomes = await bench.store.commit([good.commit, stale, broken, other.commit]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['committed', 'conflict', 'failed', 'committed']);
      expect(await bench.store.sequence(rows.run.id)).toBe(1);
      expect(await bench.store.sequence(other.rows.run.id)).toBe(1);
    });

    test('what a bad commit had already written is taken back alone', async (bench) => {
      const rows = await bench.create({ name: 'bad' });
      const grant = grantStep(rows, { index: 0, now: bench.now(), message: 'grant' }).commit;
      const [lease] = grant.leases;
      const twin = {
        ...grant,
        leases: [...grant.leases, ...(lease === undefined ? [] : [{ ...lease, id: id<LeaseId>('twin') }])],
      };
      const other = creation({ name: 'other' }, bench.now());
      const outcomes = await bench.store.commit([twin, other.commit]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'committed']);
      await bench.reopen();
      const loaded = await bench.store.load(rows.run.id);
      expect([loaded?.run, loaded?.nodes, loaded?.attempts, loaded?.leases]).toEqual([rows.run, rows.nodes, [], []]);
      expect(await bench.store.receipts(rows.run.id, [id('grant')])).toEqual([]);
    });

    test('an empty batch has no outcomes', async (bench) => {
      expect(await bench.store.commit([])).toEqual([]);
    });
  });

  describe('receipts', () => {
    test('a message is applied once: its repeat is a duplicate and changes nothing (000 §376.12)', async (bench) => {
      const rows = await bench.create();
      const granted = await bench.apply(grantStep(rows, { index: 0, now: bench.now(), message: 'grant-1' }));
      const repeat = acceptStep(granted, { index: 0, now: bench.now(), message: 'grant-1' });
      expect(await bench.commit(repeat)).toEqual({ kind: 'duplicate', messages: ['grant-1'] });
      expect(await bench.store.sequence(rows.run.id)).toBe(granted.run.sequence);
    });

    test('a duplicate is told apart even when its sequence is old', async (bench) => {
      const rows = await bench.create();
      const step = grantStep(rows, { index: 0, now: bench.now(), message: 'grant-1' });
      await bench.apply(step);
      expect(await bench.commit(step)).toEqual({ kind: 'duplicate', messages: ['grant-1'] });
    });

    test('a message that stands twice in one commit is refused', async (bench) => {
      const rows = await bench.create();
      const { commit } = grantStep(rows, { index: 0, now: bench.now(), message: 'twice' });
      const outcome = await bench.commit({
        rows,
        commit: { ...commit, receipts: [...commit.receipts, ...commit.receipts] },
      });
      expect(outcome).toEqual({ kind: 'duplicate', messages: ['twice'] });
    });

    test('the answer is kept word for word, also of a no-op that changes nothing else', async (bench) => {
      const rows = await bench.create();
      const noOp = changeStep(rows, { message: 'late-cancel' }, bench.now());
      const [receipt] = noOp.commit.receipts;
      const answer = {
        ...receipt,
        outcome: 'no-op',
        code: 'AlreadyDone',
        reply: { kind: 'job', state: 'Running', intent: null },
      } as const;
      const messageId = id<MessageId>('late-cancel');
      expect(
        await bench.commit({
          rows,
          commit: { ...noOp.commit, receipts: [{ ...answer, messageId, command: 'CancelJob', at: bench.now() }] },
        }),
      ).toEqual({ kind: 'committed' });
      await bench.reopen();
      expect(await bench.store.receipts(rows.run.id, [id('unheard-of'), messageId])).toEqual([
        { ...answer, messageId, command: 'CancelJob', at: bench.now() },
      ]);
      expect(await bench.store.sequence(rows.run.id)).toBe(1);
    });
  });

  describe('creation', () => {
    test('the same request again answers the first run (000 §375.1)', async (bench) => {
      const rows = await bench.create({ name: 'first', requestId: 'request' });
      const again = creation({ name: 'second', requestId: 'request' }, bench.now());
      expect(await bench.commit(again)).toEqual({ kind: 'exists', runId: rows.run.id });
      expect(await bench.store.load(again.rows.run.id)).toBe(null);
      expect((await bench.store.findRunByRequest('suite', 'request'))?.id).toBe(rows.run.id);
      expect(await bench.store.findRunByRequest('elsewhere', 'request')).toBe(null);
    });

    test('two creations with one request in one batch: one run', async (bench) => {
      const one = creation({ name: 'one', requestId: 'request' }, bench.now());
      const two = creation({ name: 'two', requestId: 'request' }, bench.now());
      expect(await bench.store.commit([one.commit, two.commit])).toEqual([
        { kind: 'committed' },
        { kind: 'exists', runId: one.rows.run.id },
      ]);
    });

    test('another project may use the same request id', async (bench) => {
      await bench.create({ name: 'here', requestId: 'request', project: 'here' });
      const there = await bench.create({ name: 'there', requestId: 'request', project: 'there' });
      expect((await bench.store.findRunByRequest('there', 'request'))?.id).toBe(there.run.id);
    });

    test('a run id that is taken is a conflict', async (bench) => {
      await bench.create({ name: 'taken', requestId: 'a' });
      expect(await bench.commit(creation({ name: 'taken', requestId: 'b' }, bench.now()))).toEqual({
        kind: 'conflict',
        why: 'sequence',
      });
    });

    test('rows that are not those of the plan create nothing', async (bench) => {
      const { commit, rows } = creation({ nodes: [{}, {}] }, bench.now());
      const outcome = await bench.commit({ rows, commit: { ...commit, jobs: commit.jobs.slice(1) } });
      expect(outcome.kind).toBe('failed');
      expect(await bench.store.load(rows.run.id)).toBe(null);
    });

    test('one plan serves many runs', async (bench) => {
      const first = creation({ name: 'first' }, bench.now());
      const second = creation({ name: 'second' }, bench.now());
      const run = { ...second.rows.run, planDigest: first.rows.run.planDigest };
      await bench.apply(first);
      expect(
        await bench.commit({ rows: second.rows, commit: { ...second.commit, create: first.commit.create, run } }),
      ).toEqual({
        kind: 'committed',
      });
      await bench.reopen();
      expect((await bench.store.load(run.id))?.plan).toEqual(first.commit.create?.plan);
    });
  });

  describe('guards', () => {
    test('session-active holds for an Active session only', async (bench) => {
      const session = await bench.openSession();
      const rows = await bench.create({ nodes: [{}, {}, {}] });
      const granted = await bench.apply(grantStep(rows, { index: 0, now: bench.now(), session: session.id }));
      const next = grantStep(granted, { index: 1, now: bench.now(), session: session.id });
      await bench.store.updateSession({ ...session, state: 'Draining', version: 2 });
      expect(await bench.commit(next)).toEqual({ kind: 'conflict', why: 'guard' });
      const unknown = grantStep(granted, { index: 2, now: bench.now(), session: id<SessionId>('never seen') });
      expect(await bench.commit(unknown)).toEqual({ kind: 'conflict', why: 'guard' });
    });

    test('lease-live fails from the very millisecond the offer expires (000 §38)', async (bench) => {
      const rows = await bench.apply(grantStep(await bench.create(), { index: 0, now: bench.now() }));
      const late = acceptStep(rows, { index: 0, now: bench.now() });
      bench.advance(9_999);
      expect((await bench.commit({ ...late, commit: { ...late.commit, expectedSequence: 99 } })).kind).toBe('conflict');
      bench.advance(1);
      expect(await bench.commit(late)).toEqual({ kind: 'conflict', why: 'guard' });
    });

    test('lease-live is about this run’s live lease, not about any lease', async (bench) => {
      const held = await bench.createHeld({ name: 'other' });
      const rows = await bench.create({ name: 'mine' });
      const foreign = changeStep(
        rows,
        { guards: [{ kind: 'lease-live', lease: currentLease(held, 0).id }] },
        bench.now(),
      );
      expect(await bench.commit(foreign)).toEqual({ kind: 'conflict', why: 'guard' });
    });

    test('lease-expired needs the time, a fresh heartbeat and the newest credit', async (bench) => {
      const credit = await bench.beat();
      const rows = await bench.createHeld();
      const expire = (creditSequence: number) => expireStep(rows, { index: 0, now: bench.now(), creditSequence });
      bench.advance(29_999);
      await bench.beat(60_000);
      expect(await bench.commit(expire(credit))).toEqual({ kind: 'conflict', why: 'guard' });
      bench.advance(1);
      expect(await bench.commit(expire(credit + 1))).toEqual({ kind: 'conflict', why: 'guard' });
      bench.advance(60_000);
      // The heartbeat is older than its gap: whoever beats next finds an outage first.
      expect(await bench.commit(expire(credit))).toEqual({ kind: 'conflict', why: 'guard' });
      const newest = await bench.beat(60_000);
      expect(newest).toBe(credit + 1);
      expect(await bench.commit(expire(credit))).toEqual({ kind: 'conflict', why: 'guard' });
      expect(await bench.commit(expire(newest))).toEqual({ kind: 'committed' });
    });

    test('lease-expired never holds where no heart ever beat', async (bench) => {
      const rows = await bench.createHeld();
      bench.advance(100_000);
      expect(await bench.commit(expireStep(rows, { index: 0, now: bench.now(), creditSequence: 0 }))).toEqual({
        kind: 'conflict',
        why: 'guard',
      });
    });
  });
}
