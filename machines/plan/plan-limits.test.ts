import { describe, expect, test } from 'vitest';
import { planLimits } from './plan-limits.ts';
import { compileSample, problemsOfSample, sample } from './test-support/compile-sample.ts';

const steps = ['true'];

function many<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function map(count: number, make: (index: number) => unknown): Record<string, unknown> {
  return Object.fromEntries(many(count, (index) => [`k${index}`, make(index)]));
}

type Case = [limit: keyof typeof planLimits, code: string, document: (count: number) => unknown];

const { value: names } = planLimits.nameLengthMax;

/** Each document is right with the count it is given, as long as that is within the limit. */
const cases: Case[] = [
  [
    'needsMax',
    'TooMany',
    (count) =>
      sample({
        m0: { steps, matrix: { axes: { n: many(10_000, String) } } },
        m1: { steps, matrix: { axes: { n: many(10_000, String) } } },
        m2: { steps },
        z: {
          steps,
          needs: many(count, (index) =>
            index < 20_000 ? `m${Math.floor(index / 10_000)}[n=${index % 10_000}]` : 'm2',
          ),
        },
      }),
  ],
  ['stepsMax', 'TooMany', (count) => sample({ a: { steps: many(count, () => 'true') } })],
  ['matrixAxesMax', 'TooMany', (count) => sample({ a: { steps, matrix: { axes: map(count, () => [1]) } } })],
  [
    'matrixValuesMax',
    'TooMany',
    (count) => sample({ a: { steps, matrix: { axes: { n: many(count, (index) => index) } } } }),
  ],
  [
    'matrixChildrenMax',
    'TooMany',
    (count) =>
      sample({
        a: {
          steps,
          matrix: {
            axes: { n: many(count - 100, (index) => index) },
            include: many(100, (index) => ({ n: `i${index}` })),
          },
        },
      }),
  ],
  [
    'matrixExcludesMax',
    'TooMany',
    (count) => sample({ a: { steps, matrix: { axes: { n: [1, 2] }, exclude: many(count, () => ({ n: 1 })) } } }),
  ],
  ['nameLengthMax', 'InvalidKey', (count) => sample({ ['a'.repeat(count)]: { steps } })],
  [
    'nodeNameLengthMax',
    'ValueOutOfRange',
    (count) =>
      sample({
        ['a'.repeat(names)]: {
          steps,
          matrix: { axes: { x: ['v'.repeat(60)], y: ['v'.repeat(60)], z: ['v'.repeat(count - names - 120 - 10)] } },
        },
      }),
  ],
  [
    'matrixValueLengthMax',
    'ValueOutOfRange',
    (count) => sample({ a: { steps, matrix: { axes: { n: ['v'.repeat(count)] } } } }),
  ],
  ['textLengthMax', 'ValueOutOfRange', (count) => sample({ a: { steps, cacheKey: 'v'.repeat(count) } })],
  ['scriptLengthMax', 'ValueOutOfRange', (count) => sample({ a: { steps: ['v'.repeat(count)] } })],
  ['argvMax', 'TooMany', (count) => sample({ a: { steps: [{ argv: many(count, () => 'x') }] } })],
  ['environmentMax', 'TooMany', (count) => sample({ a: { steps, env: map(count, () => 'x') } })],
  ['environmentValueLengthMax', 'ValueOutOfRange', (count) => sample({ a: { steps, env: { A: 'x'.repeat(count) } } })],
  ['secretsMax', 'TooMany', (count) => sample({ a: { steps, secrets: map(count, () => 'env:A') } })],
  [
    'capabilitiesMax',
    'TooMany',
    (count) => sample({ a: { steps, capabilities: many(count, (index) => `c${index}`) } }),
  ],
  ['capabilityLengthMax', 'ValueOutOfRange', (count) => sample({ a: { steps, capabilities: ['c'.repeat(count)] } })],
  ['globsMax', 'TooMany', (count) => sample({ a: { steps, outputs: many(count, (index) => `o${index}`) } })],
  ['labelsMax', 'TooMany', (count) => sample({ a: { steps } }, { labels: map(count, () => 'x') })],
  [
    'approversMax',
    'TooMany',
    (count) => sample({ a: { steps } }, { gates: { g: { approvers: many(count, (index) => `p${index}`) } } }),
  ],
  ['durationMaxMs', 'ValueOutOfRange', (count) => sample({ a: { steps } }, { deadline: count })],
  ['attemptsMax', 'ValueOutOfRange', (count) => sample({ a: { steps, retry: { attempts: count } } })],
  [
    'infrastructureRetriesMax',
    'ValueOutOfRange',
    (count) => sample({ a: { steps, retry: { infrastructureRetries: count } } }),
  ],
  [
    'backoffFactorMax',
    'ValueOutOfRange',
    (count) => sample({ a: { steps, retry: { backoff: { base: '1s', factor: count } } } }),
  ],
  ['priorityMax', 'ValueOutOfRange', (count) => sample({ a: { steps } }, { priority: count })],
  [
    'jobSpecBytesMax',
    'SpecTooLarge',
    (count) => sample({ a: { steps: [`${'v'.repeat(65_000)}`, 'v'.repeat(count - 65_000 - specBytesBeside)] } }),
  ],
];

/** What the two scripts of that document stand in. */
const specBytesBeside = ((): number => {
  const compiled = compileSample(sample({ a: { steps: ['v'.repeat(100), 'v'.repeat(100)] } }));
  const node = compiled.ok ? compiled.plan.nodes[0] : undefined;
  return node?.kind === 'job' ? JSON.stringify(node.spec).length - 200 : 0;
})();

describe('plan limits', () => {
  test.each(cases)('%s: a plan at the limit is accepted, one past it is refused with %s', (name, code, document) => {
    const { value } = planLimits[name];
    expect(problemsOfSample(document(value))).toEqual(['ok']);
    const past = problemsOfSample(document(value + 1));
    expect(past.length).toBeGreaterThan(0);
    expect(past[0]?.split(' ')[0]).toBe(code);
  });

  test('durationMinMs: one millisecond is a duration, nothing is none', () => {
    expect(problemsOfSample(sample({ a: { steps } }, { deadline: planLimits.durationMinMs.value }))).toEqual(['ok']);
    expect(problemsOfSample(sample({ a: { steps } }, { deadline: 0 }))).toEqual(['ValueOutOfRange at deadline']);
  });

  test('nodesMax and edgesMax: counted before anything of that size is made', () => {
    const document = sample({
      a: { steps, matrix: { axes: { n: [1, 2, 3] } } },
      b: { steps, needs: ['a'], matrix: { axes: { n: [1, 2] } } },
    });
    expect(problemsOfSample(document, { nodesMax: 5, edgesMax: 6 })).toEqual(['ok']);
    expect(problemsOfSample(document, { nodesMax: 4 })).toContain('GraphTooLarge at ');
    expect(problemsOfSample(document, { edgesMax: 5 })).toContain('GraphTooLarge at ');
  });

  test('edgesMax: also for what anyFailure stands for', () => {
    const jobs = {
      a: { steps },
      b: { steps, needs: ['a'] },
      c: { steps, needs: [{ job: 'b', condition: 'anyFailure' }] },
    };
    expect(problemsOfSample(sample(jobs), { edgesMax: 3 })).toEqual(['ok']);
    expect(problemsOfSample(sample(jobs), { edgesMax: 2 })).toEqual(['GraphTooLarge at ']);
  });

  test('many matrices in a small plan do not fill the memory', () => {
    const matrix = { axes: Object.fromEntries(['a', 'b', 'c', 'd'].map((axis) => [axis, many(10, String)])) };
    const jobs = map(1000, () => ({ steps, matrix }));
    expect(problemsOfSample(sample(jobs))).toContain('GraphTooLarge at ');
  });

  test('many large fan-ins in a small plan do not fill the memory', () => {
    const jobs = {
      m: { steps, matrix: { axes: { n: many(10_000, String) } } },
      ...map(2000, () => ({ steps, needs: ['m'] })),
    };
    expect(problemsOfSample(sample(jobs))).toEqual(['GraphTooLarge at ']);
  });

  test('problemsMax: the report says how many more there are', () => {
    const problems = problemsOfSample(sample(map(planLimits.problemsMax.value + 5, () => ({ steps, needs: ['x'] }))));
    expect(problems).toHaveLength(planLimits.problemsMax.value + 1);
    expect(problems.at(-1)).toBe('TooManyProblems at ');
  });

  test('entryValuesMax: a job of hundreds of thousands of mistakes is one problem', () => {
    expect(problemsOfSample(sample({ a: { steps: many(300_000, () => 1) } }))).toEqual(['TooMany at jobs.a']);
  });

  test('every limit has a unit and a reason', () => {
    for (const { unit, reason } of Object.values(planLimits)) expect(`${unit}: ${reason}`).toMatch(/^.+: [A-Z].*\.$/);
  });
});
