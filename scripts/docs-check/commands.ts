/** Every `forgeyard …` that a document shows must be a command that the program's own help knows. */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Finding } from '../lib/finding.ts';
import { ownCommands } from './markdown.ts';

/** The help text of a command, given as words. */
export type Help = (words: readonly string[]) => string;

const helpOfSource: Help = (words) =>
  spawnSync(process.execPath, ['daemon/cli/main.ts', ...words, '--help'], { encoding: 'utf8' }).stdout;

/** Subcommands in a help text: `  start [options] <plan>  Starts a run`, `  list|ls  …`. */
function subcommands(help: string): ReadonlySet<string> {
  const section = help.split(/^Commands:$/m)[1] ?? '';
  const names = [...section.matchAll(/^ {2}([a-z][a-z-]*)(?:\|([a-z-]+))?(?= |$)/gm)];
  return new Set(names.flatMap(([, name, alias]) => [name, alias].filter((each) => each !== undefined)));
}

export async function commandFindings(
  root: string,
  files: readonly string[],
  help: Help = helpOfSource,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const known = new Map<string, ReadonlySet<string>>();
  const below = (words: readonly string[]): ReadonlySet<string> => {
    const key = words.join(' ');
    const cached = known.get(key) ?? subcommands(help(words));
    known.set(key, cached);
    return cached;
  };
  for (const file of files) {
    for (const { line, words } of ownCommands(await readFile(path.join(root, file), 'utf8'))) {
      // A word below a command without subcommands is an argument of it.
      const unknown = words.findIndex((word, index) => {
        const names = below(words.slice(0, index));
        return !names.has(word) && (names.size > 0 || index === 0);
      });
      const seen = words.slice(0, unknown + 1).join(' ');
      if (unknown >= 0) findings.push({ file, line, message: `there is no command "forgeyard ${seen}"` });
    }
  }
  return findings;
}
