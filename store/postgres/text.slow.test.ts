/** What a workload says may hold anything; a commit must be written all the same. */
import { expect, it } from 'vitest';
import { postgresSubjects } from '../../conformance/postgres-server/index.ts';
import type { Reason } from '../../machines/index.ts';
import { changeStep, id, jobAt } from '../suite/index.ts';
import { onServers } from './test-support/on-servers.ts';
import { commitStep, newRun } from './test-support/sample.ts';

onServers(await postgresSubjects(), 'postgres text', (bench) => {
  it('text the database cannot hold is replaced, not refused', async () => {
    const store = await bench.open();
    const rows = await commitStep(store, newRun(store, 'run'));
    const now = store.now();
    const reason: Reason = {
      code: 'RequiredJobFailed',
      message: 'zero \u0000, half \uD83D, ü, 😀, \\u0000, \u001b[0m',
    };
    const failed = { ...jobAt(rows, 0), state: 'Failed', failureClass: 'Internal', reason, finishedAt: now } as const;
    await commitStep(store, changeStep(rows, { jobs: [{ ...failed, version: 2 }] }, now, reason));
    const message = 'zero \uFFFD, half \uFFFD, ü, 😀, \\u0000, \u001b[0m';
    expect((await store.load(rows.run.id))?.nodes[0]).toMatchObject({ reason: { message } });
    const [, fact] = await store.facts(rows.run.id, { after: 0, limit: 9 });
    expect(fact?.fact.reason).toMatchObject({ message });
    const entry = { actor: 'user:ann', action: 'x', runId: null, entity: 'e', outcome: 'allowed' } as const;
    await store.appendAudit({ ...entry, id: id('a'), at: now, message: 'zero \u0000' });
    expect((await store.auditLog({ limit: 1 }))[0]?.message).toBe('zero \uFFFD');
  });
});
