/** S5: ended rows, believable rows, unique ones. */
import type { AttemptId, LeaseId, RunId } from '../../machines/index.ts';
import { useBench } from './bench.ts';
import type { RunRows } from './change.ts';
import { id } from './ids.ts';
import { completeStep, grantStep, phaseStep, rejectStep } from './job-steps.ts';
import { changeStep, currentAttempt, currentLease, gateAt, jobAt } from './run-script.ts';
import type { MakeStore, SuiteRunner } from './subject.ts';

export function rowTests(runner: SuiteRunner, make: MakeStore): void {
  const test = useBench(runner, make);
  const { expect, describe } = runner;

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
