/**
 * A process of its own in which clock, chance, timers, environment and network throw before the first module of
 * machines/ is loaded. Runs every pure check; exit code 0 when all pass. With `--probe` it uses a clock on purpose,
 * to show that this would be noticed.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { argv, exit, stdout } from 'node:process';

const here = new URL('.', import.meta.url);
const read = (folder: string, extension: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(new URL(folder, here)).map((file) => [
      file.slice(0, -extension.length),
      readFileSync(new URL(`${folder}${file}`, here), 'utf8'),
    ]),
  );
const tables = read('../tables/', '.json');
const expected = read('expected-transitions/', '.txt');

const ambient = [
  'Date',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'process',
  'fetch',
  'crypto',
];

function seal(holder: object, key: string, name: string): void {
  Object.defineProperty(holder, key, {
    configurable: false,
    get() {
      throw new Error(`${name} was used where nothing ambient may be`);
    },
  });
}
for (const name of ambient) seal(globalThis, name, name);
seal(Math, 'random', 'Math.random');

const core = await import('../index.ts');
const { pureChecks } = await import('./pure-checks.ts');
if (argv.includes('--probe')) Date.now();

const checks = pureChecks({
  table: (chart) => tables.get(chart) ?? '',
  expected: (chart) => expected.get(chart) ?? '',
});
let failed = 0;
for (const { name, findings } of checks) {
  const found = findings();
  if (found.length === 0) continue;
  failed += 1;
  stdout.write(`${name}: ${found.length} findings, first: ${found[0]}\n`);
}
stdout.write(`${checks.length} checks over ${Object.keys(core).length} exports, ${failed} failed\n`);
exit(failed === 0 && checks.length > 0 ? 0 : 1);
