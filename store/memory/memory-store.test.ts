import { describe, expect, it } from 'vitest';
import { createStep, grantStep, id, makePlan, storeSuite } from '../suite/index.ts';
import { createMemoryStore } from './index.ts';

storeSuite({ describe, it, expect }, 'memory', { open: async (environment) => createMemoryStore(environment) });

describe('store: memory: crash', () => {
  it('between two waves of one batch is told apart from a batch that never was', async () => {
    let crashes = false;
    const store = createMemoryStore({
      clock: { now: () => 1 },
      hook: (point) => {
        if (crashes && point === 'commit:before-send') throw new Error('crash');
        if (point === 'commit:after-commit') crashes = true;
      },
    });
    const created = createStep({ runId: id('run-1'), plan: makePlan([{}]), now: 1 });
    const granted = grantStep(created.rows, { index: 0, now: 1 });
    const outcomes = await store.commit([created.commit, granted.commit]);
    expect(outcomes.map(({ kind }) => kind)).toEqual(['committed', 'failed']);
    expect(await store.sequence(created.rows.run.id)).toBe(1);
  });
});
