import { describe, expect, test } from 'vitest';
import { compileNodes, gate, job, planOf } from './builder.ts';
import { edgesOf, sampleDigest } from './test-support/compile-sample.ts';

const run = { project: 'p', name: 'n' };

describe('plans from code', () => {
  test('pass the same checks and give the same plan as a file', () => {
    const plan = planOf(
      { ...run, deadline: '1h' },
      [job('a'), job('b', { needs: ['a', 'g'] }), gate('g', { expiry: '1m' })],
      sampleDigest,
    );
    expect(plan.nodes.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['job a', 'job b', 'gate g']);
    expect(edgesOf(plan, 'b')).toEqual(['a success', 'g success']);
    expect(plan.deadlineMs).toBe(3_600_000);
  });

  test('two nodes of one name are refused, not merged', () => {
    expect(compileNodes(run, [job('a'), job('a')], sampleDigest)).toMatchObject({
      ok: false,
      problems: [{ code: 'DuplicateName' }],
    });
  });

  test('a wrong plan throws with every problem, or is a value for those who ask', () => {
    const nodes = [job('a', { needs: ['x', 'y'] })];
    expect(() => planOf(run, nodes, sampleDigest)).toThrow(
      /UnknownName at jobs\.a\.needs\.0.*\nUnknownName at jobs\.a\.needs\.1/,
    );
    expect(compileNodes(run, nodes, sampleDigest).ok).toBe(false);
  });
});
