import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Finding } from '../lib/finding.ts';
import { projectFiles } from '../lib/project-files.ts';

export const linesMax = 400;

/** Files that may be longer, each with the reason a reader would accept. */
const excused: Readonly<Record<string, string>> = {};

export async function longFileFindings(
  root: string,
  reasons: Readonly<Record<string, string>> = excused,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const long = new Set<string>();
  for (const file of await projectFiles(root, ['**/*.ts'])) {
    const lines = (await readFile(path.join(root, file), 'utf8')).trimEnd().split('\n').length;
    if (lines <= linesMax) continue;
    long.add(file);
    if (reasons[file] === undefined) {
      findings.push({ file, line: 0, message: `${lines} lines; ${linesMax} is the most without a listed reason` });
    }
  }
  for (const file of Object.keys(reasons)) {
    if (!long.has(file)) findings.push({ file, line: 0, message: 'excused from the length rule but not that long' });
  }
  return findings;
}
