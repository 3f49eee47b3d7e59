import { describe, expect, test } from 'vitest';
import { planProblemCodes } from './problem.ts';
import { compileSample, problemsOfSample, sample } from './test-support/compile-sample.ts';

const steps = ['true'];
const a = { steps };

describe('plan problems: shape', () => {
  test.each<[string, unknown, string[]]>([
    ['no map at all', 'x', ['WrongType at ']],
    ['nothing', null, ['WrongType at ']],
    ['an empty map', {}, ['MissingKey at project', 'MissingKey at name', 'MissingKey at jobs']],
    ['no jobs', sample({}), ['NoJobs at jobs']],
    ['an unknown key', sample({ a }, { deadlin: 1 }), ['UnknownKey at deadlin']],
    ['an unknown key of a job', sample({ a: { steps, need: [] } }), ['UnknownKey at jobs.a.need']],
    ['a job that is a list', sample({ a: [] }), ['WrongType at jobs.a']],
    ['a job without steps', sample({ a: {} }), ['MissingKey at jobs.a.steps']],
    ['an empty list of steps', sample({ a: { steps: [] } }), ['TooFew at jobs.a.steps']],
    ['a name with a space', sample({ 'a b': a }), ['InvalidKey at jobs.a b']],
    ['a name that is a number', sample({ '1': a }), ['InvalidKey at jobs.1']],
    [
      'an impossible value',
      sample({ a: { steps, failureImpact: 'alowed' } }),
      ['InvalidValue at jobs.a.failureImpact'],
    ],
    ['a duration of nothing', sample({ a }, { deadline: 0 }), ['ValueOutOfRange at deadline']],
    ['a negative duration', sample({ a }, { deadline: -5 }), ['ValueOutOfRange at deadline']],
    ['a duration past 30 days', sample({ a }, { deadline: '31d' }), ['ValueOutOfRange at deadline']],
    ['a fraction of a millisecond', sample({ a }, { deadline: '1.5ms' }), ['ValueOutOfRange at deadline']],
    ['no duration', sample({ a }, { deadline: 'soon' }), ['InvalidValue at deadline']],
    ['no attempt', sample({ a: { steps, retry: { attempts: 0 } } }), ['ValueOutOfRange at jobs.a.retry.attempts']],
    ['half an attempt', sample({ a: { steps, retry: { attempts: 1.5 } } }), ['WrongType at jobs.a.retry.attempts']],
    [
      'a final class retried',
      sample({ a: { steps, retry: { on: ['Cancelled'] } } }),
      ['RetryNotAllowed at jobs.a.retry.on.0'],
    ],
    ['both run and argv', sample({ a: { steps: [{ run: 'x', argv: ['x'] }] } }), ['Contradiction at jobs.a.steps.0']],
    ['neither run nor argv', sample({ a: { steps: [{}] } }), ['Contradiction at jobs.a.steps.0']],
    [
      'a shell for argv',
      sample({ a: { steps: [{ argv: ['x'], shell: ['sh'] }] } }),
      ['Contradiction at jobs.a.steps.0.shell'],
    ],
    [
      'two kinds in a need',
      sample({ a: { steps, needs: [{ job: 'b', gate: 'b' }] }, b: a }),
      ['Contradiction at jobs.a.needs.0'],
    ],
    [
      'a condition beside required: false',
      sample({ a: { steps, needs: [{ job: 'b', required: false, condition: 'success' }] }, b: a }),
      ['Contradiction at jobs.a.needs.0.condition'],
    ],
    ['two kinds of connectivity', sample({ a: { steps, connectivity: {} } }), ['Contradiction at jobs.a.connectivity']],
    [
      'a value in env and in secrets',
      sample({ a: { steps, env: { X: 1 }, secrets: { X: 'env:X' } } }),
      ['Contradiction at jobs.a.secrets.X'],
    ],
    [
      'a variable of the runner',
      sample({ a: { steps, env: { forgeyard_job: 'x' } } }),
      ['ReservedName at jobs.a.env.forgeyard_job'],
    ],
    [
      'a path that leaves',
      sample({ a: { steps, outputs: ['../x', '/x', 'a/../../x', 'a\\..\\x'] } }),
      [0, 1, 2, 3].map((index) => `UnsafePath at jobs.a.outputs.${index}`),
    ],
    ['a NUL', sample({ a: { steps: ['a\0b'] } }), ['ForbiddenCharacter at jobs.a.steps.0']],
  ])('%s', (_, document, expected) => {
    expect(problemsOfSample(document)).toEqual(expected);
  });

  test.each(['hunter2', 'env:', 'env:A B', 'ENV:TOKEN', 'command:rm -rf /', 'command:', 'file:', ''])(
    'a secret is a reference, and "%s" is none',
    (value) => {
      const compiled = compileSample(sample({ a: { steps, secrets: { TOKEN: value } } }));
      expect(compiled).toMatchObject({
        ok: false,
        problems: [{ code: 'SecretLiteral', path: ['jobs', 'a', 'secrets', 'TOKEN'] }],
      });
      if (value.includes('h') || value.includes('rf')) expect(JSON.stringify(compiled)).not.toContain(value);
    },
  );

  test.each(['env:TOKEN', 'file:/run/secrets/token', 'command:vault'])('%s is a reference', (value) => {
    expect(problemsOfSample(sample({ a: { steps, secrets: { TOKEN: value } } }))).toEqual(['ok']);
  });
});

describe('plan problems: meaning', () => {
  const matrix = { axes: { n: [1, 2] } };
  test.each<[string, unknown, string[]]>([
    ['an unknown name', sample({ a: { steps, needs: ['x'] } }), ['UnknownName at jobs.a.needs.0']],
    [
      'a child that is not there',
      sample({ a: { steps, matrix }, b: { steps, needs: ['a[n=3]'] } }),
      ['UnknownName at jobs.b.needs.0'],
    ],
    [
      'a gate where a job is meant',
      sample({ a: { steps, needs: [{ job: 'g' }] } }, { gates: { g: {} } }),
      ['WrongKind at jobs.a.needs.0'],
    ],
    [
      'a job where a gate is meant',
      sample({ a, b: { steps, needs: [{ gate: 'a' }] } }),
      ['WrongKind at jobs.b.needs.0'],
    ],
    ['a gate with the name of a job', sample({ a }, { gates: { a: {} } }), ['DuplicateName at gates.a']],
    [
      'two values that read the same',
      sample({ a: { steps, matrix: { axes: { n: [1, '1'] } } } }),
      ['DuplicateName at jobs.a'],
    ],
    [
      'an included combination that is there',
      sample({ a: { steps, matrix: { ...matrix, include: [{ n: 2 }] } } }),
      ['DuplicateName at jobs.a'],
    ],
    [
      'axes that share a variable',
      sample({ a: { steps, matrix: { axes: { n: [1], N: [1] } } } }),
      ['DuplicateName at jobs.a.matrix.axes.N'],
    ],
    [
      'a combination that lacks an axis',
      sample({ a: { steps, matrix: { ...matrix, include: [{}] } } }),
      ['MissingKey at jobs.a.matrix.include.0.n'],
    ],
    [
      'an axis that is not there',
      sample({ a: { steps, matrix: { ...matrix, exclude: [{ m: 1 }] } } }),
      ['UnknownKey at jobs.a.matrix.exclude.0.m'],
    ],
    ['no axis', sample({ a: { steps, matrix: { axes: {} } } }), ['EmptyMatrix at jobs.a.matrix.axes']],
    [
      'everything excluded',
      sample({ a: { steps, matrix: { ...matrix, exclude: [{}] } } }),
      ['EmptyMatrix at jobs.a.matrix'],
    ],
    [
      'a value that breaks names',
      sample({ a: { steps, matrix: { axes: { n: ['a=b', 'c]', ''] } } } }),
      [0, 1, 2].map((index) => `InvalidValue at jobs.a.matrix.axes.n.${index}`),
    ],
    [
      'the same need twice',
      sample({ a, b: { steps, needs: ['a', { job: 'a', condition: 'failure' }] } }),
      ['DuplicateNeed at jobs.b.needs.1'],
    ],
    [
      'a matrix and one of its children',
      sample({ a: { steps, matrix }, b: { steps, needs: ['a[n=1]', 'a'] } }),
      ['DuplicateNeed at jobs.b.needs.1'],
    ],
    ['a need of oneself', sample({ a: { steps, needs: ['a'] } }), ['SelfNeed at jobs.a.needs.0']],
    [
      'a child that needs its sibling',
      sample({ a: { steps, matrix, needs: ['a[n=1]'] } }),
      ['SelfNeed at jobs.a.needs.0'],
    ],
    ['inputs of a stranger', sample({ a, b: { steps, inputsFrom: ['a'] } }), ['NotUpstream at jobs.b.inputsFrom.0']],
    [
      'inputs of a sibling of what is needed',
      sample({ a: { steps, matrix }, b: { steps, needs: ['a[n=1]'], inputsFrom: ['a'] } }),
      ['NotUpstream at jobs.b.inputsFrom.0'],
    ],
    [
      'inputs of a gate',
      sample({ b: { steps, needs: ['g'], inputsFrom: ['g'] } }, { gates: { g: {} } }),
      ['WrongKind at jobs.b.inputsFrom.0'],
    ],
    ['inputs of nobody', sample({ b: { steps, inputsFrom: ['x'] } }), ['UnknownName at jobs.b.inputsFrom.0']],
  ])('%s', (_, document, expected) => {
    expect(problemsOfSample(document)).toEqual(expected);
  });

  test('a circle is refused with every name on it, through jobs, gates and matrices', () => {
    const compiled = compileSample(
      sample(
        { a: { steps, needs: ['m'] }, m: { steps, needs: ['g'], matrix }, b: { steps, needs: ['a'] }, lone: a },
        { gates: { g: { needs: ['b'] } } },
      ),
    );
    expect(compiled).toMatchObject({
      ok: false,
      problems: [
        { code: 'Cycle', path: ['jobs', 'b', 'needs', 0], message: 'a circle: a needs m needs g needs b needs a' },
      ],
    });
  });

  test('two circles are two problems, and a knot of many circles is one', () => {
    const two = sample({
      a: { steps, needs: ['b'] },
      b: { steps, needs: ['a'] },
      c: { steps, needs: ['d'] },
      d: { steps, needs: ['c'] },
    });
    expect(problemsOfSample(two)).toEqual(['Cycle at jobs.b.needs.0', 'Cycle at jobs.d.needs.0']);
    const knot = sample({
      a: { steps, needs: ['b', 'c'] },
      b: { steps, needs: ['a', 'c'] },
      c: { steps, needs: ['a', 'b'] },
    });
    expect(problemsOfSample(knot)).toHaveLength(1);
  });

  test('a circle of thousands is named by its ends', () => {
    const jobs = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`j${index}`, { steps, needs: [`j${(index + 1) % 5000}`] }]),
    );
    const compiled = compileSample(sample(jobs));
    expect(compiled).toMatchObject({
      ok: false,
      problems: [{ message: expect.stringMatching(/^a circle: j0 needs j1 .*… 4981 more ….* needs j0$/) }],
    });
  });
});

describe('plan problems: all at once', () => {
  test('a mistake in one job hides none in another, nor in its own needs', () => {
    const document = sample(
      {
        build: { steps: [5] },
        test: { steps, needs: ['biuld'], retry: { attempts: 'x' } },
        deploy: { steps, needs: ['test', 'gat'] },
      },
      { gates: { gate: { expiry: 0 } }, nme: 1, priority: 'high' },
    );
    expect(problemsOfSample(document).sort()).toEqual([
      'UnknownKey at nme',
      'UnknownName at jobs.deploy.needs.1',
      'UnknownName at jobs.test.needs.0',
      'ValueOutOfRange at gates.gate.expiry',
      'WrongType at jobs.build.steps.0',
      'WrongType at jobs.test.retry.attempts',
      'WrongType at priority',
    ]);
  });

  test('hints name what was probably meant', () => {
    const compiled = compileSample(
      sample(
        { build: { steps, outptus: [] }, test: { steps, needs: ['biuld'], failureImpact: 'blokcing' } },
        { gats: {} },
      ),
    );
    expect(compiled.ok ? [] : compiled.problems.map(({ hint }) => hint).sort()).toEqual([
      'did you mean "blocking"?',
      'did you mean "build"?',
      'did you mean "gates"?',
      'did you mean "outputs"?',
    ]);
  });

  test('an unknown class to be retried is answered with those that may be listed', () => {
    const compiled = compileSample(sample({ a: { steps, retry: { on: ['Foo', 'UserComand'] } } }));
    const message = 'expected CompileFailure, TestFailure, UserCommand, Timeout';
    expect(compiled.ok ? [] : compiled.problems).toMatchObject([
      { code: 'InvalidValue', message, hint: null },
      { code: 'InvalidValue', message, hint: 'did you mean "UserCommand"?' },
    ]);
  });

  test('every code has a sentence', () => {
    for (const sentence of Object.values(planProblemCodes)) expect(sentence).toMatch(/^[A-Z].*\.$/);
  });
});
