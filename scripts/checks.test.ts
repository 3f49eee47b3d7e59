import { describe, expect, test } from 'vitest';
import { lineFindings } from './checks/line-rules.ts';
import { linesMax, longFileFindings } from './checks/long-files.ts';
import { temporaryProject } from './lib/temporary-project.ts';

async function findingsOf(file: string, text: string): Promise<readonly number[]> {
  await using project = await temporaryProject({ [file]: text });
  return (await lineFindings(project.root)).map((finding) => finding.line);
}

// Spelled in two halves so that this file does not break the rules it tests.
const wait = 'setTime' + 'out';
const left = 'sk' + 'ip';

describe('checks: line rules', () => {
  test.each([
    ['machines/a.ts', 'const x = 1;\nconst y = Math.random();\n', [2]],
    ['store/sqlite/a.ts', "import { randomUUID } from 'node:crypto';\n", [1]],
    ['actors/a.ts', `import { setImmediate } from 'node:timers/${'promises'}';\n`, [1]],
    ['actors/a.ts', 'const now = globalThis.Date;\n', [1]],
    ['runner/a.test.ts', `await new Promise((done) => ${wait}(done, 5));\n`, [1]],
    ['runner/a.test.ts', `test.${left}('later', () => {});\n`, [1]],
    ['runner/a.ts', `// @ts-${'ignore'}\n`, [1]],
  ])('in %s %j is found on lines %j', async (file, text, lines) => {
    expect(await findingsOf(file, text)).toEqual(lines);
  });

  test('a rule named in a comment is no breach', async () => {
    expect(
      await findingsOf('machines/a.ts', '/** never\n * Math.random() */\nconst x = 1; // nor globalThis\n'),
    ).toEqual([]);
  });

  test('the ambient world is free outside machines, actors and store', async () => {
    expect(await findingsOf('runner/a.ts', 'const y = Math.random();\n')).toEqual([]);
  });
});

describe('checks: long files', () => {
  const long = 'x;\n'.repeat(linesMax + 1);

  test('a file of the limit passes, one line more does not', async () => {
    await using project = await temporaryProject({ 'a.ts': 'x;\n'.repeat(linesMax), 'b.ts': long });
    expect((await longFileFindings(project.root)).map((finding) => finding.file)).toEqual(['b.ts']);
  });

  test('a reason excuses, and a reason without need is itself found', async () => {
    await using project = await temporaryProject({ 'b.ts': long });
    const findings = await longFileFindings(project.root, { 'b.ts': 'one table', 'c.ts': 'gone' });
    expect(findings.map((finding) => finding.file)).toEqual(['c.ts']);
  });
});
