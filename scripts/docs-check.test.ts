import { describe, expect, test } from 'vitest';
import { docsFindings } from './docs-check/check.ts';
import type { Help } from './docs-check/commands.ts';
import { commandFindings } from './docs-check/commands.ts';
import { temporaryProject } from './lib/temporary-project.ts';

const whole: Readonly<Record<string, string>> = {
  'package.json': '{ "scripts": { "verify": "x", "test": "x" } }',
  LICENSE: 'x',
  'README.md': '# Read me\n\nSee [the house](docs/ARCHITECTURE.md#the-house). Run `npm test`.\n',
  'CHANGELOG.md': '# Changes\n',
  'docs/ARCHITECTURE.md': '# Architecture\n\n## The house\n',
  'docs/GUARANTEES.md': '| promise | proof |\n|---|---|\n| one lease | `store/a.test.ts` "lease: one" |\n',
  'docs/glossary.md': '# Words\n',
  'docs/state-machines.md': '# Tables\n',
  'store/a.test.ts': "test('lease: one', () => {});\n",
};

async function messages(change: Readonly<Record<string, string>>): Promise<readonly string[]> {
  await using project = await temporaryProject({ ...whole, ...change });
  return (await docsFindings(project.root)).map((finding) => finding.message);
}

describe('docs', () => {
  test('a whole set of documents is accepted', async () => {
    expect(await messages({})).toEqual([]);
  });

  test.each([
    ['a missing file', { 'README.md': '[a](docs/none.md)' }, 'link to docs/none.md, which does not exist'],
    [
      'a missing heading',
      { 'README.md': '[a](docs/ARCHITECTURE.md#attic)' },
      'docs/ARCHITECTURE.md has no heading #attic',
    ],
    ['a way out of the repository', { 'README.md': '[a](../x.md)' }, 'link to ../x.md, which does not exist'],
    ['an unknown command', { 'README.md': 'Run `npm run magic`.' }, 'npm script "magic" does not exist'],
  ])('%s is found', async (_, change, message) => {
    expect(await messages(change)).toEqual([message]);
  });

  test.each([
    ['without a proof', '| one lease | trust us |', 'a promise without a named test'],
    ['with a lost file', '| one lease | `store/b.test.ts` "lease: one" |', 'no such test file: store/b.test.ts'],
    [
      'with a lost test',
      '| one lease | `store/a.test.ts` "lease: two" |',
      'store/a.test.ts has no test named "lease: two"',
    ],
  ])('a promise %s is found', async (_, row, message) => {
    expect(await messages({ 'docs/GUARANTEES.md': `| promise | proof |\n|---|---|\n${row}\n` })).toEqual([message]);
  });

  test('an architecture of 250 lines is too long, one of 249 is not', async () => {
    expect(await messages({ 'docs/ARCHITECTURE.md': '## The house\n'.repeat(249) })).toEqual([]);
    expect(await messages({ 'docs/ARCHITECTURE.md': '## The house\n'.repeat(250) })).toHaveLength(1);
  });
});

describe('docs: commands of ours', () => {
  const help: Help = (words) =>
    ({
      '': 'Usage: forgeyard\n\nCommands:\n  run                 Runs\n  daemon [options]    Daemon\n',
      run: 'Usage: forgeyard run\n\nCommands:\n  start [options] <plan>  Starts\n  list|ls                 Lists\n',
      'run start': 'Usage: forgeyard run start <plan>\n',
    })[words.join(' ')] ?? '';

  test.each([
    ['```\nnpx forgeyard run start examples/a.yaml\n```', []],
    ['`forgeyard run ls`, then `forgeyard daemon --port 1`', []],
    ['`forgeyard run start quickly`', []],
    ['The word forgeyard begins nothing here.', []],
    ['`forgeyard run stop x`', ['there is no command "forgeyard run stop"']],
    ['    $ forgeyard walk', ['there is no command "forgeyard walk"']],
  ])('%j', async (text, messages) => {
    await using project = await temporaryProject({ 'README.md': text });
    const findings = await commandFindings(project.root, ['README.md'], help);
    expect(findings.map((finding) => finding.message)).toEqual(messages);
  });
});
