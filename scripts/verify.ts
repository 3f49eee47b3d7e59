/**
 * `npm run verify`: everything that must hold before a change is done. One line per step; the output of what failed
 * follows at the end. `--only name,name` runs a part and says so.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import type { StepResult } from './verify/run-steps.ts';
import { runSteps } from './verify/run-steps.ts';
import type { Step } from './verify/steps.ts';
import { steps } from './verify/steps.ts';

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const only = values.only?.split(',');
const chosen = only === undefined ? steps : steps.filter((step) => only.includes(step.name));
const children = new Set<ChildProcess>();

function execute(step: Step): Promise<StepResult> {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', ...step.script], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
    });
    children.add(child);
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('error', (error) => {
      output += error.message;
    });
    child.on('close', (code) => {
      children.delete(child);
      resolve({ name: step.name, passed: code === 0, seconds: (performance.now() - started) / 1000, output });
    });
  });
}

/** The figures a step closes with, or nothing. */
function figures(result: StepResult): string {
  const last = result.output.trimEnd().split('\n').at(-1) ?? '';
  return last.startsWith('{') ? ` ${last}` : '';
}

function show(result: StepResult): void {
  const mark = result.passed ? 'ok  ' : 'FAIL';
  console.log(`${mark} ${result.name.padEnd(18)} ${result.seconds.toFixed(1).padStart(6)} s${figures(result)}`);
}

process.once('SIGINT', () => {
  for (const child of children) child.kill('SIGTERM');
  process.exitCode = 130;
});

await rm('reports', { recursive: true, force: true });
await mkdir('reports', { recursive: true });
const started = performance.now();
const results = await runSteps(chosen, {
  lanes: Math.max(2, Math.min(4, availableParallelism())),
  execute,
  onResult: show,
});
const failed = results.filter((result) => !result.passed);
for (const { name, output } of failed) console.log(`\n--- ${name}\n${output.trimEnd()}`);

const summary = results.map(({ name, passed, seconds }) => ({ name, passed, seconds: Math.round(seconds * 10) / 10 }));
await writeFile('reports/verify.json', `${JSON.stringify({ steps: summary }, null, 2)}\n`);
const part = only === undefined ? '' : ` (only a part: ${steps.length - chosen.length} steps were left out)`;
const seconds = ((performance.now() - started) / 1000).toFixed(0);
console.log(`\nverify: ${results.length - failed.length} steps passed, ${failed.length} failed in ${seconds} s${part}`);
if (failed.length > 0 || results.length === 0) process.exitCode = 1;
