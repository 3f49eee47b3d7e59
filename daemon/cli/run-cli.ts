/** One call of the program: from the words to the exit code. */
import { readFileSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { exitCodes } from './exit-codes.ts';
import { Refusal } from './refusal.ts';
import { surviveClosedPipes } from './terminal.ts';

/** Exit codes above this say which signal ended the waiting. */
const leftOnSignal = 128;

export async function main(process: NodeJS.Process): Promise<void> {
  surviveClosedPipes(process);
  // Node would exit with 1, which says that a run failed.
  process.on('uncaughtException', (error) => process.exit(report(process, error)));
  const words = process.argv.slice(2);
  // Asked by other programs all the time: answered without loading a parser of options.
  if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
    process.stdout.write(`${version()}\n`);
    return;
  }
  enableCompileCache();
  try {
    const { perform } = await import('./program/program.ts');
    process.exitCode = await perform(process, words, version());
    // Left on a signal: what does not want to stop is not waited for.
    if (process.exitCode > leftOnSignal) process.exit();
  } catch (error) {
    process.exitCode = report(process, error);
  }
}

function report(process: NodeJS.Process, error: unknown): number {
  if (error instanceof Refusal) {
    process.stderr.write(`${error.lines.join('\n')}\n`);
    return error.exitCode;
  }
  const isStoreTrouble = error instanceof Error && error.name === 'StoreUnavailable';
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`error: ${message}\n`);
  if (isStoreTrouble)
    process.stderr.write('  try: again when the disk has room and no other process holds the store\n');
  else if (error instanceof Error && error.stack !== undefined && process.env.FORGEYARD_DEBUG)
    process.stderr.write(`${error.stack}\n`);
  else process.stderr.write('  try: FORGEYARD_DEBUG=1 shows where it happened\n');
  return exitCodes.trouble;
}

/** The package's own version: one folder up from `daemon/` as source, two as built. */
function version(): string {
  for (const up of ['../../package.json', '../../../package.json']) {
    try {
      const manifest: unknown = JSON.parse(readFileSync(new URL(up, import.meta.url), 'utf8'));
      if (typeof manifest === 'object' && manifest !== null && 'name' in manifest && manifest.name === 'forgeyard')
        return 'version' in manifest ? String(manifest.version) : 'unknown';
    } catch {
      // Not here.
    }
  }
  return 'unknown';
}
