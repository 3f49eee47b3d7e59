import { describe, expect, test } from 'vitest';
import { charts } from '../../machines/index.ts';
import { equivalents } from './equivalents.ts';
import { judgeMutants } from './judge.ts';
import { killers } from './killers.ts';
import { mutated, mutationsOf } from './mutations.ts';

describe('mutants', () => {
  test('suites that notice nothing let every core mutant of a reachable pair live, and the score says so', async () => {
    const nothing = { quick: [], thorough: [] };
    const report = await judgeMutants(nothing, {});
    expect(report.survivors).toContain('job: Running x WorkFinished dropped');
    expect(report.killed + report.survivors.length).toBe(report.mutants);
    expect(report.score).toBeLessThan(30);
  });

  test('a proof of equivalence for a mutant that dies, or that does not exist, is reported', async () => {
    const wrong = { 'session: Active x DrainRequested dropped': 'not so', 'run: no such mutant': 'nor so' };
    const report = await judgeMutants({ quick: [], thorough: [] }, wrong);
    expect(report.wrongProofs).toEqual(Object.keys(wrong));
  });

  test('mutations are what they say: dropped, negated, without the effect', () => {
    const found = mutationsOf(charts.run.table);
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    const negated = found.find(({ id }) => id === 'Queued x CancelRequested [0] guard jobsHeld negated');
    const chart = negated === undefined ? charts.run : mutated(charts.run, negated);
    const quiet = { jobsHeld: false, nodesOpen: false, verdict: 'success', intent: null, due: true } as const;
    expect(chart.guards['not jobsHeld']?.(quiet)).toBe(true);
    expect(chart.table.rows.Queued?.CancelRequested?.[0]?.guard).toBe('not jobsHeld');
    const dropped = found.find(({ id }) => id === 'Queued x Started [0] effect recordStart dropped');
    expect(dropped?.table.rows.Queued?.Started?.[0]?.effects).toEqual([]);
  });

  test('scenarios and histories notice a wrong chart by themselves', async () => {
    const mutation = mutationsOf(charts.job.table).find(
      ({ id }) => id === 'Running x LeaseExpired [1] effect closeAttempt dropped',
    );
    const wrong = mutation === undefined ? charts : { ...charts, job: mutated(charts.job, mutation) };
    for (const suite of ['scenarios', 'histories']) {
      const ofSuite = killers.thorough.filter((killer) => killer.suite === suite);
      const ends = await Promise.allSettled(ofSuite.map(async (killer) => killer.run(wrong)));
      expect(ends.some(({ status }) => status === 'rejected')).toBe(true);
    }
  });

  test('every equivalent mutant has a proof in a sentence', () => {
    for (const proof of Object.values(equivalents)) expect(proof).toMatch(/^[A-Z].{40,}\.$/);
  });
});
