/** S1-S6: compare-and-set, guards, receipts, creation, terminal rows, uniqueness. */
import type { AttemptId, LeaseId, MessageId, RunId, SessionId } from '../../machines/index.ts';
import { creation, useBench } from './bench.ts';
import type { RunRows } from './change.ts';
import { id } from './ids.ts';
import {
  acceptStep,
  changeStep,
  completeStep,
  currentAttempt,
  currentLease,
  expireStep,
  gateAt,
  grantStep,
  jobAt,
  phaseStep,
  rejectStep,
} from './run-script.ts';
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

  describe('ended rows', () => {
    async function finished(bench: Parameters<Parameters<typeof test>[1]>[0]): Promise<RunRows> {
      let rows = await bench.createHeld();
      rows = await bench.apply(phaseStep(rows, { index: 0, now: bench.now() }));
      rows = await bench.apply(phaseStep(rows, { index: 0, now: bench.now() }));
      return bench.apply(completeStep(rows, { index: 0, now: bench.now() }));
    }

    test('an ended run, job, attempt and lease never change (000 §375.29, 000 §375.30, 000 §376.7)', async (bench) => {
      const rows = await finished(bench);
      const [attempt] = rows.attempts.values();
      const [lease] = rows.leases.values();
      if (attempt === undefined || lease === undefined) throw new Error('a finished job has both');
      const job = jobAt(rows, 0);
      const changes = [
        { run: { state: 'Failed' } },
        { run: { priority: 5 } },
        { jobs: [{ ...job, state: 'Failed', failureClass: 'Internal', executionSource: null }] },
        { jobs: [{ ...job, outputs: [] }] },
        { attempts: [{ ...attempt, state: 'Failed' }] },
        { attempts: [{ ...attempt, log: 'another' }] },
        { leases: [{ ...lease, state: 'Held', finishedAt: null }] },
        { leases: [{ ...lease, expiresAt: lease.expiresAt + 1 }] },
      ] as const;
      for (const change of changes) {
        const outcome = await bench.commit(changeStep(rows, change, bench.now()));
        expect([Object.keys(change), outcome.kind]).toEqual([Object.keys(change), 'failed']);
      }
      await bench.reopen();
      expect((await bench.store.load(rows.run.id))?.nodes).toEqual(rows.nodes);
    });

    test('an ended gate never changes', async (bench) => {
      const rows = await bench.create({ nodes: [{ kind: 'gate' }, {}] });
      const gate = gateAt(rows, 0);
      const opened = { ...gate, openedAt: bench.now(), version: 2 };
      const satisfied = {
        ...opened,
        state: 'Satisfied',
        finishedAt: bench.now(),
        decidedBy: 'user:ann',
        version: 3,
      } as const;
      const ended = await bench.apply(changeStep(rows, { gates: [satisfied] }, bench.now(), { code: 'Approved' }));
      const rejected = changeStep(ended, { gates: [{ ...satisfied, state: 'Rejected' }] }, bench.now());
      expect((await bench.commit(rejected)).kind).toBe('failed');
    });

    test('a late result is noted on the ended attempt and on nothing else (000 §32)', async (bench) => {
      const rows = await finished(bench);
      const [attempt] = rows.attempts.values();
      if (attempt === undefined) throw new Error('a finished job has an attempt');
      const noted = { ...attempt, lateResult: true, version: attempt.version + 1 };
      const after = await bench.apply(changeStep(rows, { attempts: [noted] }, bench.now(), { code: 'LateResult' }));
      expect(await bench.store.attempts(rows.run.id, {})).toEqual([noted]);
      const undone = changeStep(after, { attempts: [{ ...noted, lateResult: false }] }, bench.now());
      expect((await bench.commit(undone)).kind).toBe('failed');
    });
  });

  describe('believable rows', () => {
    test('a row that contradicts itself is refused whole (000 §376.10)', async (bench) => {
      const rows = await bench.createHeld({
        nodes: [{}, { needs: [{ upstream: 0, condition: 'success', required: true }] }],
      });
      const held = jobAt(rows, 0);
      const pending = jobAt(rows, 1);
      const attempt = currentAttempt(rows, 0);
      const lease = currentLease(rows, 0);
      const at = bench.now();
      const intent = { kind: 'Cancelled', reason: 'RunCancelled' } as const;
      const runIntent = { kind: 'Cancelled', requestedAt: at, supersededBy: null } as const;
      const wrong = {
        'run ended without an end': { run: { state: 'Failed' } },
        'run goes on after its end': { run: { finishedAt: at } },
        'run cancelling without an intent': { run: { state: 'Cancelling' } },
        'run running with an intent': { run: { intent: runIntent } },
        'run ended for another intent': { run: { state: 'TimedOut', finishedAt: at, intent: runIntent } },
        'job active without a lease': { jobs: [{ ...held, currentLease: null }] },
        'job active without an attempt': { jobs: [{ ...held, currentAttempt: null }] },
        'job waiting with a lease': { jobs: [{ ...held, state: 'Pending' }] },
        'job waiting with an intent': { jobs: [{ ...pending, intent }] },
        'job offered with an intent': { jobs: [{ ...held, state: 'Leased', intent }] },
        'job ended without an end': { jobs: [{ ...pending, state: 'Cancelled' }] },
        'job goes on after its end': { jobs: [{ ...pending, finishedAt: at }] },
        'job failed without a class': { jobs: [{ ...pending, state: 'Failed', finishedAt: at }] },
        'job skipped without a word on dependents': { jobs: [{ ...pending, state: 'Skipped', finishedAt: at }] },
        'job succeeded out of nothing': { jobs: [{ ...pending, state: 'Succeeded', finishedAt: at }] },
        'job eligible since never': { jobs: [{ ...pending, state: 'Eligible' }] },
        'job waiting for no time': { jobs: [{ ...pending, state: 'RetryWaiting' }] },
        'attempt ended without an end': { attempts: [{ ...attempt, state: 'Failed' }] },
        'lease live after its end': { leases: [{ ...lease, finishedAt: at }] },
        'lease ended without an end': { leases: [{ ...lease, state: 'Released' }] },
        'offer with another expiry': { leases: [{ ...lease, state: 'Offered' }] },
        'negative credit': { leases: [{ ...lease, creditMs: -1 }] },
      } as const;
      for (const [what, change] of Object.entries(wrong)) {
        const outcome = await bench.commit(changeStep(rows, change, at));
        expect([what, outcome.kind]).toEqual([what, 'failed']);
      }
      expect((await bench.store.load(rows.run.id))?.nodes).toEqual(rows.nodes);
    });
  });

  describe('uniqueness', () => {
    test('a job never has two live leases (000 §375.5)', async (bench) => {
      const rows = await bench.createHeld();
      const lease = currentLease(rows, 0);
      const second = {
        ...lease,
        id: id<LeaseId>('second'),
        epoch: 2,
        state: 'Offered',
        expiresAt: lease.offerExpiresAt,
      } as const;
      expect((await bench.commit(changeStep(rows, { leases: [second] }, bench.now()))).kind).toBe('failed');
    });

    test('attempt numbers and epochs are never reused (000 §375.10, 000 §375.11)', async (bench) => {
      const granted = await bench.apply(grantStep(await bench.create(), { index: 0, now: bench.now() }));
      const rows = await bench.apply(rejectStep(granted, { index: 0, now: bench.now() }));
      const [attempt] = rows.attempts.values();
      const [lease] = rows.leases.values();
      if (attempt === undefined || lease === undefined) throw new Error('a rejected job has both');
      const again = [
        { attempts: [{ ...attempt, id: id<AttemptId>('again') }] },
        { leases: [{ ...lease, id: id<LeaseId>('again') }] },
      ];
      for (const change of again)
        expect((await bench.commit(changeStep(rows, change, bench.now()))).kind).toBe('failed');
    });

    test('the next lease may stand in the commit that ends the last one', async (bench) => {
      const granted = await bench.apply(grantStep(await bench.create(), { index: 0, now: bench.now() }));
      const rejected = rejectStep(granted, { index: 0, now: bench.now() });
      const regranted = grantStep(rejected.rows, { index: 0, now: bench.now() });
      const commit = {
        ...regranted.commit,
        expectedSequence: rejected.commit.expectedSequence,
        attempts: [...regranted.commit.attempts, ...rejected.commit.attempts],
        leases: [...regranted.commit.leases, ...rejected.commit.leases],
        facts: [...rejected.commit.facts, ...regranted.commit.facts],
      };
      expect(await bench.commit({ rows: regranted.rows, commit })).toEqual({ kind: 'committed' });
      expect((await bench.store.leases(granted.run.id, {})).map(({ epoch }) => epoch)).toEqual([2]);
    });

    test('a row of another run is refused', async (bench) => {
      const other = await bench.createHeld({ name: 'other' });
      const rows = await bench.create({ name: 'mine' });
      const stolen = { ...jobAt(other, 0), runId: id<RunId>('mine') };
      expect((await bench.commit(changeStep(rows, { jobs: [stolen] }, bench.now()))).kind).toBe('failed');
    });
  });
}
