import { describe, expect, test } from 'vitest';
import { temporaryProject } from './lib/temporary-project.ts';
import type { Requirement } from './requirements-check.ts';
import {
  judgePassed,
  judgeRequirements,
  passedTags,
  readRequirements,
  sectionSizes,
  taggedFiles,
} from './requirements-check.ts';

const complete: readonly Requirement[] = Object.entries(sectionSizes).flatMap(([section, size]) =>
  Array.from({ length: size }, (_, index) => ({
    id: `${section}.${index + 1}`,
    text: 'a requirement',
    status: 'later' as const,
    waitsFor: 'something else',
  })),
);

function withTested(id: string): readonly Requirement[] {
  return complete.map((each) => (each.id === id ? { id, text: each.text, status: 'tested' as const } : each));
}

function messages(
  requirements: readonly Requirement[],
  tagged: Readonly<Record<string, readonly string[]>> = {},
): string[] {
  const map = new Map(Object.entries(tagged).map(([id, files]) => [id, new Set(files)]));
  return judgeRequirements(requirements, map).map((finding) => finding.message);
}

describe('requirements', () => {
  test('a complete list in which everything waits is accepted', () => {
    expect(messages(complete)).toEqual([]);
  });

  test('a number that is not listed is found', () => {
    expect(messages(complete.filter(({ id }) => id !== '000 §375.35'))).toEqual(['000 §375.35 is not listed']);
  });

  test('a tested number without a test is found', () => {
    expect(messages(withTested('000 §375.1'))).toEqual(['000 §375.1 has no test: a requirement']);
  });

  test('a waiting number that gained a test is found', () => {
    expect(messages(complete, { '000 §376.2': ['a.test.ts'] })).toEqual([
      '000 §376.2 waits (later) but is tested in a.test.ts: make it "tested"',
    ]);
  });

  test('a test for a number that does not exist is found', () => {
    expect(messages(complete, { '000 §375.36': ['a.test.ts'] })).toEqual([
      'a.test.ts names 000 §375.36, which does not exist',
    ]);
  });

  test('the tag of 17 is no tag of 1, and a tag in a comment is no test', async () => {
    await using project = await temporaryProject({
      'a.test.ts': "// 000 §376.4\ntest('000 §375.17: propagates', () => {});\n",
      'b.ts': "const no = '000 §375.2';\n",
    });
    expect([...(await taggedFiles(project.root)).keys()]).toEqual(['000 §375.17']);
  });

  test('a tagged test that failed proves nothing', async () => {
    const results = [
      { fullName: 'lease: 000 §375.3: granted', status: 'passed' },
      { fullName: 'lease: 000 §375.4: atomic', status: 'failed' },
    ];
    const report = JSON.stringify({ testResults: [{ assertionResults: results }] });
    await using project = await temporaryProject({ 'report.json': report });
    const passed = await passedTags([`${project.root}/report.json`]);
    expect(judgePassed(withTested('000 §375.4'), passed)).toHaveLength(1);
    expect(judgePassed(withTested('000 §375.3'), passed)).toEqual([]);
  });

  test('the list of this repository has every number once', async () => {
    const missing = messages(await readRequirements('.')).filter((message) =>
      /not listed|no requirement|twice/.test(message),
    );
    expect(missing).toEqual([]);
  });
});
