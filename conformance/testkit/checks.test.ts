import { describe, expect, test } from 'vitest';
import { job } from '../../machines/plan/index.ts';
import type { Store, StoredFact } from '../../store/index.ts';
import { createMemoryStore } from '../../store/index.ts';
import { checkStore, openStage } from './index.ts';

type Fact = StoredFact['fact'];

/** A store whose history is sound: a job that failed once, is running again, and one that waits for it. */
async function soundStore(): Promise<Store> {
  const stage = await openStage({ openStore: async ({ clock }) => createMemoryStore({ clock }) });
  const host = await stage.host();
  const retry = { attempts: 2, backoff: 'none' } as const;
  await stage.create(host, [job('a', { retry, timeouts: { execution: '1h' } }), job('b', { needs: ['a'] })]);
  const runner = await stage.runner(host, 'ada');
  await runner.failRunning(await runner.take('a'));
  const again = await runner.take('a');
  await runner.accept(again);
  await runner.start(again);
  await stage.settle();
  return stage.store;
}

function withFacts(store: Store, change: (facts: readonly StoredFact[]) => readonly StoredFact[]): Store {
  return {
    ...store,
    async facts(run, query) {
      const facts = change(await store.facts(run, { after: 0, limit: 10_000 }));
      return facts.slice(query.after, query.after + query.limit);
    },
  };
}

const edited =
  (type: string, change: (fact: Fact) => Fact, nth = 1) =>
  (facts: readonly StoredFact[]): readonly StoredFact[] => {
    let seen = 0;
    return facts.map((stored) => {
      if (stored.fact.type === type) seen += 1;
      return stored.fact.type === type && seen === nth ? { ...stored, fact: change(stored.fact) } : stored;
    });
  };

const tamperings: readonly {
  readonly what: string;
  readonly tamper: (store: Store) => Store;
  readonly finding: string;
}[] = [
  {
    what: 'a row that no fact explains',
    tamper: (store) => ({
      ...store,
      async load(run) {
        const loaded = await store.load(run);
        return loaded === null ? null : { ...loaded, run: { ...loaded.run, priority: 7 } };
      },
    }),
    finding: 'fold: run.priority differs',
  },
  {
    what: 'a fact that is missing',
    tamper: (store) => withFacts(store, (facts) => facts.filter(({ sequence }) => sequence !== 4)),
    finding: 'replay: ',
  },
  {
    what: 'two facts with one event id',
    tamper: (store) =>
      withFacts(store, (facts) => facts.map((each) => ({ ...each, eventId: facts[0]?.eventId ?? each.eventId }))),
    finding: 'twice',
  },
  {
    what: 'an epoch that does not rise',
    tamper: (store) =>
      withFacts(
        store,
        edited(
          'LeaseGranted',
          (fact) => (fact.entity === 'lease' ? { ...fact, set: { ...fact.set, epoch: 1 } } : fact),
          2,
        ),
      ),
    finding: 'does not rise',
  },
  {
    what: 'a lease granted while another one is alive',
    tamper: (store) =>
      withFacts(
        store,
        edited('LeaseReleased', (fact) => (fact.entity === 'lease' ? { ...fact, to: 'Held' } : fact)),
      ),
    finding: 'while another one is alive',
  },
  {
    what: 'an attempt number used twice',
    tamper: (store) => ({
      ...store,
      attempts: async (run, filter) => (await store.attempts(run, filter)).map((each) => ({ ...each, number: 1 })),
    }),
    finding: 'finality: attempts of',
  },
  {
    what: 'a job that ended and went on',
    tamper: (store) =>
      withFacts(
        store,
        edited('JobEligible', (fact) => (fact.entity === 'job' ? { ...fact, to: 'Failed' } : fact), 2),
      ),
    finding: 'finality: JobLeased after the end',
  },
  {
    what: 'a deadline without a timer',
    tamper: (store) => ({ ...store, timers: async () => [] }),
    finding: 'has no timer',
  },
  {
    what: 'a timer that guards nothing',
    tamper: (store) => ({
      ...store,
      timers: async (run) => [
        ...(await store.timers(run)),
        { runId: run, key: 'queue/nobody', kind: 'queue', dueAt: 1, state: 'Pending' },
      ],
    }),
    finding: 'timer queue/nobody guards nothing',
  },
  {
    what: 'a job that waits for nothing',
    tamper: (store) => ({
      ...store,
      async load(run) {
        const loaded = await store.load(run);
        const plan = loaded?.plan;
        if (loaded === null || plan === undefined) return null;
        return { ...loaded, plan: { ...plan, nodes: plan.nodes.map((node) => ({ ...node, needs: [] })) } };
      },
    }),
    finding: 'b is Pending and waits for nothing',
  },
  {
    what: 'what the store itself finds',
    tamper: (store) => ({
      ...store,
      check: async () => ({ problems: [{ code: 'Torn', entity: 'x', message: 'half a row' }], runs: 1, facts: 1 }),
    }),
    finding: 'store: Torn x: half a row',
  },
];

describe('checkers', () => {
  test('find nothing in a sound history', async () => {
    expect(await checkStore(await soundStore())).toEqual([]);
  });

  for (const { what, tamper, finding } of tamperings) {
    test(`find ${what}`, async () => {
      expect((await checkStore(tamper(await soundStore()))).join('\n')).toContain(finding);
    });
  }
});
