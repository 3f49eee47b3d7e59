/**
 * Every numbered requirement is either proved by a test that carries its number, or stands in docs/requirements.json
 * with what it waits for. Neither, or both, is a finding.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { codeLines } from './lib/comments.ts';
import type { Finding } from './lib/finding.ts';
import { projectFiles } from './lib/project-files.ts';

/** How many numbers each section has; the file may neither lose nor invent one. */
export const sectionSizes: Readonly<Record<string, number>> = {
  '000 §364': 12,
  '000 §375': 35,
  '000 §376': 30,
  '003 §301': 35,
  '003 §303': 30,
};

const text = z.string().min(8);
const entry = z.discriminatedUnion('status', [
  z.strictObject({ id: z.string(), text, status: z.literal('tested') }),
  z.strictObject({ id: z.string(), text, status: z.enum(['issue', 'later', 'neighbour']), waitsFor: text }),
]);
const requirementsFile = z.strictObject({ about: z.string(), requirements: z.array(entry) });

export type Requirement = z.infer<typeof entry>;
export const requirementsPath = 'docs/requirements.json';

export async function readRequirements(root: string): Promise<readonly Requirement[]> {
  const json: unknown = JSON.parse(await readFile(path.join(root, requirementsPath), 'utf8'));
  return requirementsFile.parse(json).requirements;
}

const tag = /00[03] §\d+\.\d+(?!\d)/g;

/** Number -> test files that carry it outside comments. Exported suites live in conformance/, so they count as tests. */
export async function taggedFiles(root: string): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const found = new Map<string, Set<string>>();
  for (const file of await projectFiles(root, ['**/*.test.ts', 'conformance/**/*.ts'])) {
    if (file.startsWith('scripts/')) continue;
    const code = codeLines(await readFile(path.join(root, file), 'utf8')).join('\n');
    for (const [id] of code.matchAll(tag)) found.set(id, (found.get(id) ?? new Set()).add(file));
  }
  return found;
}

export function judgeRequirements(
  requirements: readonly Requirement[],
  tagged: ReadonlyMap<string, ReadonlySet<string>>,
): readonly Finding[] {
  const finding = (message: string): Finding => ({ file: requirementsPath, line: 0, message });
  const byId = new Map(requirements.map((each) => [each.id, each]));
  const expected = Object.entries(sectionSizes).flatMap(([section, size]) =>
    Array.from({ length: size }, (_, index) => `${section}.${index + 1}`),
  );
  const findings: Finding[] = [];
  for (const id of expected) if (!byId.has(id)) findings.push(finding(`${id} is not listed`));
  for (const { id } of requirements) if (!expected.includes(id)) findings.push(finding(`${id} is no requirement`));
  if (byId.size !== requirements.length) findings.push(finding('a number is listed twice'));
  for (const { id, status, text: claim } of byId.values()) {
    const files = [...(tagged.get(id) ?? [])];
    if (status === 'tested' && files.length === 0) findings.push(finding(`${id} has no test: ${claim}`));
    if (status !== 'tested' && files.length > 0) {
      findings.push(finding(`${id} waits (${status}) but is tested in ${files.join(', ')}: make it "tested"`));
    }
  }
  for (const [id, files] of tagged) {
    if (!expected.includes(id) && sectionSizes[id.slice(0, id.lastIndexOf('.'))] !== undefined) {
      findings.push(finding(`${[...files].join(', ')} names ${id}, which does not exist`));
    }
  }
  return findings;
}

const vitestReport = z.object({
  testResults: z.array(z.object({ assertionResults: z.array(z.object({ fullName: z.string(), status: z.string() })) })),
});

/** Numbers that stand in the name of a test that ran and passed, from vitest's JSON reports. */
export async function passedTags(reportFiles: readonly string[]): Promise<ReadonlySet<string>> {
  const passed = new Set<string>();
  for (const file of reportFiles) {
    const report = vitestReport.parse(JSON.parse(await readFile(file, 'utf8')));
    for (const { fullName, status } of report.testResults.flatMap((each) => each.assertionResults)) {
      if (status === 'passed') for (const [id] of fullName.matchAll(tag)) passed.add(id);
    }
  }
  return passed;
}

export function judgePassed(requirements: readonly Requirement[], passed: ReadonlySet<string>): readonly Finding[] {
  return requirements
    .filter(({ id, status }) => status === 'tested' && !passed.has(id))
    .map(({ id }) => ({ file: requirementsPath, line: 0, message: `no test whose name carries ${id} ran and passed` }));
}
