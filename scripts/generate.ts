/**
 * `npm run generate`: writes all generated files anew. `npm run generate -- --check`: fails when one is out of date,
 * and when a generator has no answer to `--check` (then it would have written, and git sees that).
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Generator } from './generators.ts';
import { generators } from './generators.ts';

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } });

/** What git holds against the outputs: also a file that was never added. */
function changes(generator: Generator): string {
  return spawnSync('git', ['status', '--porcelain', '--', ...generator.outputs], { encoding: 'utf8' }).stdout;
}

function problem(generator: Generator): string | null {
  const before = changes(generator);
  const run = spawnSync(process.execPath, [generator.script, ...(values.check ? ['--check'] : [])], {
    stdio: 'inherit',
  });
  if (run.status !== 0) return `exit code ${run.status ?? run.signal}`;
  const missing = generator.outputs.filter((output) => !existsSync(output));
  if (missing.length > 0) return `did not write ${missing.join(', ')}`;
  return values.check && changes(generator) !== before ? '--check has written' : null;
}

let failed = 0;
for (const generator of generators) {
  const found = problem(generator);
  if (found !== null) failed += 1;
  console.log(`${generator.name}: ${found ?? (values.check ? 'up to date' : 'written')}`);
}
console.log(`generate: ${generators.length} generators, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
