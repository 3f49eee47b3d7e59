import { spawnSync } from 'node:child_process';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('test-support/pure-run.ts', import.meta.url));

function run(...options: readonly string[]): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(execPath, [script, ...options], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

test('purity: machines/ loads and passes its table checks in a process without clock, chance, timers and network', () => {
  const { status, output } = run();
  expect(output).toMatch(/^\d+ checks over \d+ exports, 0 failed\n$/);
  expect(status).toBe(0);
});

test('purity: one look at a clock is noticed', () => {
  const { status, output } = run('--probe');
  expect(output).toContain('Date was used where nothing ambient may be');
  expect(status).not.toBe(0);
});
