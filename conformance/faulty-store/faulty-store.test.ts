import { describe, expect, test } from 'vitest';
import { job } from '../../machines/plan/index.ts';
import type { Store } from '../../store/index.ts';
import { createMemoryStore, StoreUnavailable } from '../../store/index.ts';
import { openStage, seededRandom } from '../testkit/index.ts';
import { faultyStore, scriptedFaults, seededFaults } from './index.ts';

const memory = (): Store => createMemoryStore({ clock: { now: () => 1_000_000 } });

describe('faulty store', () => {
  test('a call that never reached the store throws and changes nothing', async () => {
    const store = memory();
    const plan = scriptedFaults([{ call: 'heartbeat', nth: 1, fault: 'unreachable' }]);
    await expect(faultyStore(store, plan).heartbeat({ gapMs: 10 })).rejects.toThrow(StoreUnavailable);
    expect(await store.credits(0)).toEqual([]);
    expect(plan.given.get('unreachable')).toBe(1);
  });

  test('a call whose answer is lost throws and has been executed', async () => {
    const store = memory();
    const plan = scriptedFaults([{ call: 'heartbeat', nth: 2, fault: 'answer-lost' }]);
    const faulty = faultyStore(store, plan);
    expect((await faulty.heartbeat({ gapMs: 10 })).creditSequence).toBe(1);
    await expect(faulty.heartbeat({ gapMs: 10 })).rejects.toThrow('executed');
    expect((await store.heartbeat({ gapMs: 10 })).creditSequence).toBe(1);
  });

  for (const [fault, executed, kinds] of [
    ['answer-lost', true, ['unknown']],
    ['timed-out', false, ['unknown']],
    ['conflict', false, ['conflict']],
  ] as const) {
    test(`a commit with ${fault} answers ${kinds[0]} and is ${executed ? '' : 'not '}executed`, async () => {
      const stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
      const seen: string[] = [];
      const host = await stage.host({
        disturb: (store) => {
          const faulty = faultyStore(store, scriptedFaults([{ call: 'commit', nth: 1, fault }]));
          return {
            ...store,
            async commit(commits) {
              const outcomes = await faulty.commit(commits);
              const [commit] = commits;
              const found = commit === undefined ? null : await store.sequence(commit.runId);
              seen.push(...outcomes.map(({ kind }) => kind), String(found !== null));
              return outcomes;
            },
          };
        },
      });
      await stage.create(host, [job('a')]);
      expect(seen.slice(0, 2)).toEqual([...kinds, String(executed)]);
      await stage.close();
    });
  }

  test('seeded faults are the same in every run, leave a calm after each, and spare what they are told to', () => {
    const draw = (seed: number) => {
      const plan = seededFaults({
        random: seededRandom(seed),
        rate: 0.5,
        calmCalls: 2,
        calls: (call) => call !== 'load',
      });
      return Array.from({ length: 60 }, (_, at) => plan.next(at % 3 === 0 ? 'load' : 'commit'));
    };
    const first = draw(1);
    expect(draw(1)).toEqual(first);
    expect(draw(2)).not.toEqual(first);
    expect(first.some((fault) => fault !== null)).toBe(true);
    expect(first.every((fault, at) => fault === null || (first[at + 1] ?? null) === null)).toBe(true);
    expect(first.every((fault, at) => at % 3 !== 0 || fault === null)).toBe(true);
  });
});
