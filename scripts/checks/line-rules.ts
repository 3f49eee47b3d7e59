/**
 * What the linter cannot see: members of globals, modules that smuggle them in, and tests that wait or are left out.
 * Each rule is a pattern over code lines (comments blanked), for the files it names.
 */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { codeLines } from '../lib/comments.ts';
import type { Finding } from '../lib/finding.ts';
import { projectFiles } from '../lib/project-files.ts';

interface LineRule {
  readonly files: RegExp;
  readonly pattern: RegExp;
  readonly message: string;
}

const deterministic = /^(machines|actors|store)\/(?!.*(\.test\.ts$|test-support\/)).*\.ts$/;
const tests = /\.test\.ts$/;

const rules: readonly LineRule[] = [
  { files: deterministic, pattern: /\bMath\.random\b/, message: 'Math.random: take Random as a parameter' },
  {
    files: deterministic,
    pattern: /\brandomUUID\b|\brandomBytes\b|\brandomInt\b/,
    message: 'ambient randomness: take Ids or Random',
  },
  { files: deterministic, pattern: /AbortSignal\.timeout/, message: 'AbortSignal.timeout: take a Clock' },
  {
    files: deterministic,
    pattern: /from '(node:)?(timers|timers\/promises|process|perf_hooks)'/,
    message: 'ambient clock, timer or environment by import: take it as a parameter',
  },
  { files: deterministic, pattern: /\bglobalThis\b/, message: 'globalThis: a way round the forbidden globals' },
  {
    files: tests,
    pattern: /\bsetTimeout\s*\(|timers\/promises'|\bsleep\s*\(|\bdelay\s*\(|setInterval\s*\(/,
    message: 'a test waits for a signal, never for time to pass',
  },
  {
    files: tests,
    pattern:
      /\b(it|test|describe|suite)(\.\w+)*\.(skip|only|todo|skipIf|runIf|fails)\b|\b(xit|xdescribe|fit|fdescribe)\s*\(/,
    message: 'a test that is left out proves nothing',
  },
  {
    files: /^(?!scripts\/checks\/).*\.ts$/,
    pattern: /@ts-(ignore|nocheck|expect-error)|biome-ignore-all/,
    message: 'the compiler and the linter are not silenced',
  },
];

/** Rules of the last kind look for comments, so they read the text as it is. */
function linesFor(rule: LineRule, text: string): readonly string[] {
  return rule.pattern.source.startsWith('@ts-') ? text.split('\n') : codeLines(text);
}

export async function lineFindings(root: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const file of await projectFiles(root, ['**/*.ts'])) {
    const text = await readFile(path.join(root, file), 'utf8');
    for (const rule of rules.filter((each) => each.files.test(file))) {
      linesFor(rule, text).forEach((line, index) => {
        if (rule.pattern.test(line)) findings.push({ file, line: index + 1, message: rule.message });
      });
    }
  }
  return findings;
}
