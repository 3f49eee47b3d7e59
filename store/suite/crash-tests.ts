/** S1, S4: a crash between any two steps of a commit leaves all of it or nothing, and receipts tell which. */
import type { MessageId } from '../../machines/index.ts';
import type { StoreFailpoint } from '../contract.ts';
import { creation, useBench } from './bench.ts';
import { id } from './ids.ts';
import { grantStep } from './job-steps.ts';
import { deadline } from './run-script.ts';
import type { MakeStore, SuiteRunner } from './subject.ts';

const beforeTheCommit: readonly StoreFailpoint[] = [
  'commit:before-send',
  'commit:between-statements',
  'commit:before-commit',
];

export function crashTests(runner: SuiteRunner, make: MakeStore): void {
  const test = useBench(runner, make);
  const { expect, describe } = runner;

  describe('crash', () => {
    for (const point of beforeTheCommit) {
      test(`at ${point} nothing of any commit of the batch is left (000 §375.4, 000 §376.11, 003 §301.1)`, async (bench) => {
        const rows = await bench.create();
        const step = grantStep(rows, { index: 0, now: bench.now(), message: 'grant' });
        const timers = { set: [deadline('offer', bench.now())], cancel: [], fired: [] };
        const created = creation({ name: 'other' }, bench.now());
        bench.crashAt(point);
        await expect(bench.store.commit([created.commit, { ...step.commit, timers }])).rejects.toThrow(
          `crash at ${point}`,
        );
        bench.crashAt(null);
        await bench.reopen();
        expect(await bench.store.load(created.rows.run.id)).toBe(null);
        expect(await bench.store.sequence(rows.run.id)).toBe(1);
        expect(await bench.store.receipts(rows.run.id, [id<MessageId>('grant')])).toEqual([]);
        expect(await bench.store.attempts(rows.run.id, {})).toEqual([]);
        expect(await bench.store.leases(rows.run.id, {})).toEqual([]);
        expect(await bench.store.timers(rows.run.id)).toEqual([]);
        expect((await bench.store.feed({ after: 0, limit: 10 })).items.length).toBe(1);
        // Nothing is left behind that would keep the next one out.
        expect(await bench.store.commit([step.commit])).toEqual([{ kind: 'committed' }]);
      });
    }

    test('after the commit the outcome is unknown, the change is whole, and the receipt says so (003 §303.4)', async (bench) => {
      const rows = await bench.create();
      const step = grantStep(rows, { index: 0, now: bench.now(), message: 'grant' });
      bench.crashAt('commit:after-commit');
      expect((await bench.commit(step)).kind).toBe('unknown');
      bench.crashAt(null);
      await bench.reopen();
      expect((await bench.store.receipts(rows.run.id, [id<MessageId>('grant')])).length).toBe(1);
      expect(await bench.store.sequence(rows.run.id)).toBe(step.rows.run.sequence);
      expect((await bench.store.leases(rows.run.id, {})).length).toBe(1);
      expect(await bench.commit(step)).toEqual({ kind: 'duplicate', messages: ['grant'] });
    });

    test('only what was written is unknown: a conflict in the same batch stays a conflict', async (bench) => {
      const rows = await bench.create();
      const created = creation({ name: 'other' }, bench.now());
      const stale = { ...grantStep(rows, { index: 0, now: bench.now() }).commit, expectedSequence: 5 };
      bench.crashAt('commit:after-commit');
      const outcomes = await bench.store.commit([stale, created.commit]);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['conflict', 'unknown']);
    });

    test('a batch of nothing but conflicts passes no commit point', async (bench) => {
      const rows = await bench.create();
      const stale = { ...grantStep(rows, { index: 0, now: bench.now() }).commit, expectedSequence: 5 };
      bench.crashAt('commit:before-commit');
      expect(await bench.store.commit([stale])).toEqual([{ kind: 'conflict', why: 'sequence' }]);
    });
  });
}
