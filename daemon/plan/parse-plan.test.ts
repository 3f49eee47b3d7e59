import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { planLimits } from '../../machines/plan/index.ts';
import { parsePlanText } from './parse-plan.ts';
import type { PlanFormat } from './yaml-tree.ts';

function problemsOf(text: string, format: PlanFormat = 'yaml'): string[] {
  const parsed = parsePlanText(text, { file: 'plan', format });
  return parsed.ok ? ['ok'] : parsed.problems.map(({ line, column, code }) => `${line}:${column} ${code}`);
}

const head = 'project: p\nname: n\n';
const plain = `${head}jobs:\n  a:\n    steps: [x]\n`;

describe('plan text: reading', () => {
  test('YAML and JSON of the same document give the same plan', () => {
    const fromYaml = parsePlanText(plain, { file: 'plan', format: 'yaml' });
    const fromJson = parsePlanText('\ufeff{"project": "p", "name": "n",\n\t"jobs": {"a": {"steps": ["x"]}}}\n', {
      file: 'plan',
      format: 'json',
    });
    expect(fromJson).toEqual(fromYaml);
    expect(fromYaml).toMatchObject({ ok: true, warnings: [] });
  });

  test('aliases share what their anchor holds', () => {
    const text = `${head}jobs:\n  a: &a\n    steps: &s [x, y]\n  b: *a\n  c:\n    steps: *s\n`;
    const parsed = parsePlanText(text, { file: 'plan', format: 'yaml' });
    expect(parsed).toMatchObject({ ok: true });
    const digests = parsed.ok ? parsed.plan.nodes.map((node) => (node.kind === 'job' ? node.specDigest : null)) : [];
    expect(new Set(digests).size).toBe(1);
    expect(digests[0]).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('warnings have positions too', () => {
    const parsed = parsePlanText(`${plain}gates:\n  g:\n    needs: [a]\n`, { file: 'plan', format: 'yaml' });
    expect(parsed).toMatchObject({
      ok: true,
      warnings: [{ file: 'plan', line: 7, column: 3, code: 'GateMayWaitForever' }],
    });
  });
});

describe('plan text: problems, all at once and by position', () => {
  test('of the text and of the plan together', () => {
    const text = [
      'project: p',
      'nmae: n',
      'jobs:',
      '  build:',
      '    steps: [make]',
      '    env: {A: 1.10, constructor: x}',
      '    secrets: {T: hunter2}',
      '  build: {}',
      '  test:',
      '    needs: [biuld, {job: gate}]',
      '    steps:',
      '      - run: x',
      '        timeout: 0',
      'gates:',
      '  gate:',
    ].join('\n');
    expect(problemsOf(text)).toEqual([
      '1:1 MissingKey',
      '2:1 UnknownKey',
      '6:14 AmbiguousNumber',
      '6:20 ForbiddenKey',
      '7:18 SecretLiteral',
      '8:3 DuplicateKey',
      '10:13 UnknownName',
      '10:20 WrongKind',
      '13:18 ValueOutOfRange',
    ]);
  });

  test('behind an alias, they point to what it stands for', () => {
    expect(problemsOf(`${head}jobs:\n  a:\n    steps: &s [x, 5]\n  b:\n    steps: *s\n`)).toEqual([
      '5:19 WrongType',
      '5:19 WrongType',
    ]);
  });

  test('behind an alias in a list, they point to what it stands for', () => {
    const text = `${head}jobs:\n  a:\n    steps:\n      - &s\n        run: x\n        timeout: 0\n      - *s\n`;
    expect(problemsOf(text)).toEqual(['8:18 ValueOutOfRange', '8:18 ValueOutOfRange']);
  });

  test('columns count from one after a byte order mark and in lines that end in CR LF', () => {
    expect(problemsOf(`\ufeff${plain.replaceAll('\n', '\r\n')}x: 1\r\n`)).toEqual(['6:1 UnknownKey']);
  });
});

describe('plan text: refused before it is understood', () => {
  test.each<[string, string, string[]]>([
    ['nothing', '', ['1:1 WrongType']],
    ['only a comment', '# x\n', ['1:1 WrongType']],
    ['a list that does not end', 'jobs: [', ['1:8 SyntaxError']],
    ['a tab as indentation', 'jobs:\n\ta: 1', ['2:1 SyntaxError']],
    ['two documents', `${plain}---\n${plain}`, ['6:1 SeveralDocuments']],
    ['a tag of another language', `${plain}deadline: !!js/function x\n`, ['6:11 UnsupportedTag']],
    ['a standard tag', `${plain}deadline: !!str 5\n`, ['6:11 UnsupportedTag']],
    ['a directive', `%YAML 1.1\n---\n${plain}`, ['1:1 UnsupportedTag']],
    ['a merge key', `${plain}<<: {x: 1}\n`, ['6:1 MergeKey']],
    ['a prototype key', `${plain}__proto__: {x: 1}\n`, ['6:1 ForbiddenKey']],
    ['a key that is a list', `${plain}? [a]\n: 1\n`, ['6:3 InvalidKey']],
    ['a key that is a number', `${plain}1: 1\n`, ['6:1 InvalidKey']],
    ['an alias without anchor', `${plain}deadline: *x\n`, ['6:11 UnknownAlias', '6:11 WrongType']],
    ['an anchor that contains itself', `${plain}labels: &l {a: *l}\n`, ['6:16 UnknownAlias', '6:16 WrongType']],
    ['an octal number', `${plain}priority: 0o17\n`, ['6:11 AmbiguousNumber']],
    ['infinity', `${plain}priority: .inf\n`, ['6:11 AmbiguousNumber', '6:11 WrongType']],
    ['a control character', `${plain}\u0007`, ['6:1 ForbiddenCharacter']],
    ['half a surrogate pair', `${plain}# \ud800`, ['6:3 ForbiddenCharacter']],
    ['an escaped NUL', `${head}jobs: {a: {steps: ["\\0"]}}`, ['3:20 ForbiddenCharacter', '3:20 ForbiddenCharacter']],
  ])('%s', (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });

  test('JSON is strict: no comments, no trailing commas, no other quotes, no key twice', () => {
    expect(problemsOf('{"a": 1, // x\n}', 'json')).toEqual(['1:10 SyntaxError']);
    expect(problemsOf("{'a': 1}", 'json')).toEqual(['1:2 SyntaxError']);
    expect(problemsOf('{"project": "p", "name": "n", "name": "m", "jobs": {"a": {"steps": ["x"]}}}', 'json')).toEqual([
      '1:31 DuplicateKey',
    ]);
    expect(
      problemsOf('{"__proto__": {}, "project": "p", "name": "n", "jobs": {"a": {"steps": ["x"]}}}', 'json'),
    ).toEqual(['1:2 ForbiddenKey']);
  });

  test('nothing of a prototype key reaches any object', () => {
    problemsOf('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}', 'json');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

describe('plan text: bombs', () => {
  const letters = [...'abcdefghij'];

  test('aliases of aliases of aliases', () => {
    const lines = letters.map(
      (letter, index) =>
        `${letter}: &${letter} [${
          index === 0
            ? 'x'
            : Array(10)
                .fill(`*${letters[index - 1]}`)
                .join(', ')
        }]`,
    );
    expect(problemsOf(lines.join('\n'))).toEqual([expect.stringContaining('TooManyAliases')]);
  });

  test('a document nested as deep as allowed through aliases, and one level deeper', () => {
    const nested = (levels: number) =>
      `${plain}a: &a ${'['.repeat(40)}x${']'.repeat(40)}\nb: ${'['.repeat(levels)}*a${']'.repeat(levels)}\n`;
    expect(problemsOf(nested(22))).toEqual(['6:1 UnknownKey', '7:1 UnknownKey']);
    expect(problemsOf(nested(23))).toEqual([expect.stringContaining('TooDeep')]);
  });

  test.each(['[', '{"a":', '- ', '? ', '{a: '])('a hundred thousand times "%s"', (opening) => {
    expect(problemsOf(opening.repeat(100_000))).toHaveLength(1);
  });

  test('problemsMax: twenty thousand mistakes of the text are counted, not listed', () => {
    const problems = problemsOf(`${plain}${'x: 1\n'.repeat(20_000)}`);
    expect(problems).toHaveLength(planLimits.problemsMax.value + 1);
    expect(problems.at(-1)).toContain('TooManyProblems');
  });

  test('aliasesMax: at the limit, and one past it', () => {
    const many = (count: number) =>
      `${head}jobs:\n  a:\n    steps: [&s x]\n    outputs: &o [y]\n${Array.from({ length: count }, (_, index) => `  b${index}: {steps: [z], outputs: *o}\n`).join('')}`;
    expect(problemsOf(many(planLimits.aliasesMax.value))).toEqual(['ok']);
    expect(problemsOf(many(planLimits.aliasesMax.value + 1))).toEqual([expect.stringContaining('TooManyAliases')]);
  });

  test('nestingMax: at the limit, and one past it', () => {
    const nested = (levels: number) => `${plain}x: ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}\n`;
    expect(problemsOf(nested(planLimits.nestingMax.value))).toEqual(['6:1 UnknownKey']);
    expect(problemsOf(nested(planLimits.nestingMax.value + 1))).toEqual([expect.stringContaining('TooDeep')]);
  });

  test('fileBytesMax: at the limit, and one past it', () => {
    const padded = (bytes: number) => `${plain}#${'ä'.repeat((bytes - plain.length - 1) / 2)}`;
    const { value } = planLimits.fileBytesMax;
    const even = value - ((value - plain.length - 1) % 2);
    expect(problemsOf(`${padded(even)}${'x'.repeat(value - even)}`)).toEqual(['ok']);
    expect(problemsOf(`${padded(even)}${'x'.repeat(value - even + 1)}`)).toEqual(['1:1 FileTooLarge']);
  });
});

describe('plan text: whatever comes in', () => {
  const pieces = fc.constantFrom(
    ...[
      'project: p',
      'name: n',
      'jobs:',
      '  a:',
      '  b: {steps: [x], needs: [a]}',
      '    steps: [x]',
      '    needs: [b, a]',
      'gates:',
      '  g: {needs: [a]}',
      '\n',
      '\n',
      '\n',
    ],
    ...[
      '&a ',
      '*a',
      '<<: ',
      '!!x ',
      '---\n',
      '...',
      '%YAML',
      '"',
      "'",
      '[',
      ']',
      '{',
      '}',
      ': ',
      '- ',
      '? ',
      '| ',
      '>',
      '#',
      '\t',
      '\r',
      '\u0000',
      '\ud800',
      '\ufeff',
      '__proto__: ',
      '1.0',
      '~',
      '@',
      '`',
      'é',
      '😀',
      ',',
    ],
  );
  const texts = fc.oneof(
    fc.array(pieces, { maxLength: 40 }).map((parts) => parts.join('')),
    fc.string({ unit: 'binary' }),
    fc.json(),
    mutated(),
  );

  /** A plan that works, with a part cut out and something else put in. */
  function mutated(): fc.Arbitrary<string> {
    const whole = `${head}deadline: 1h\njobs:\n  a: &x\n    steps: [x, {run: y, timeout: 1s}]\n    outputs: [o/**]\n  b:\n    needs: [a, {job: c, condition: anyFailure}]\n    steps: [z]\n  c: *x\ngates:\n  g: {needs: [b], expiry: 5m}\n`;
    return fc
      .tuple(fc.nat(whole.length), fc.nat(12), fc.oneof(pieces, fc.string()))
      .map(([start, length, other]) => `${whole.slice(0, start)}${other}${whole.slice(start + length)}`);
  }

  test('the answer is a plan, or problems with places in the text; nothing is thrown', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom('yaml' as const, 'json' as const), (text, format) => {
        const parsed = parsePlanText(text, { file: 'plan', format });
        if (parsed.ok) {
          expect(parsed.plan.nodes.length).toBeGreaterThan(0);
          return;
        }
        expect(parsed.problems.length).toBeGreaterThan(0);
        const lines = text.replace(/^\ufeff/, '').split('\n');
        for (const { line, column } of parsed.problems) {
          expect(line).toBeGreaterThanOrEqual(1);
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeGreaterThanOrEqual(1);
          expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
