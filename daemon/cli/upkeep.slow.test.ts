/** `store gc` and `store check` on what real runs leave. */
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutputStore } from '../../runner/index.ts';
import { exampleFile, forgeyard, json, temporaryProject } from './test-support/forgeyard.ts';

let project = temporaryProject();
beforeEach(() => {
  project = temporaryProject();
});
afterEach(() => project.remove());
const call = async (...words: readonly string[]) => await forgeyard({ cwd: project.cwd }, ...words);

/** As if a month had gone by. */
function age(folder: string): void {
  const then = new Date(Date.now() - 40 * 86_400_000);
  for (const entry of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    utimesSync(join(folder, entry), then, then);
  utimesSync(folder, then, then);
}

describe('store gc', () => {
  it('removes outputs nothing refers to and old logs, and leaves what a run still names', async () => {
    expect((await call('run', 'start', exampleFile('outputs.yaml'))).code).toBe(0);
    const home = join(project.cwd, '.forgeyard');
    const outputs = createOutputStore(join(home, 'outputs'));
    const { digest } = await outputs.put(
      (async function* () {
        yield Buffer.from('nobody wants this');
      })(),
    );
    expect((await call('store', 'gc')).stdout).toMatch(
      /^removed 0 outputs[\s\S]*removed 0 workspaces[\s\S]*removed 0 logs/,
    );
    age(join(home, 'outputs'));
    age(join(home, 'logs'));
    expect(await json({ cwd: project.cwd }, 'store', 'gc', '--dry-run')).toMatchObject({
      outputs: { removed: [digest] },
    });
    expect(await outputs.has(digest)).toBe(true);
    expect(await json({ cwd: project.cwd }, 'store', 'gc')).toMatchObject({
      outputs: { removed: [digest], kept: expect.any(Number) },
      logs: {
        removed: [expect.stringMatching(/^att_/), expect.stringMatching(/^att_/), expect.stringMatching(/^att_/)],
      },
    });
    const logs = await call('job', 'logs', '@last/show');
    expect(logs).toMatchObject({ code: 3, stderr: expect.stringContaining('has no log here') });
    expect((await call('store', 'check')).code).toBe(0);
    const sources = join(home, 'runner', 'sources');
    expect(readdirSync(sources)).toHaveLength(1);
    expect((await call('run', 'start', exampleFile('outputs.yaml'), '--detach')).code).toBe(0);
    age(sources);
    // The run that has not ended keeps its own.
    const gc = await json({ cwd: project.cwd }, 'store', 'gc');
    expect(gc).toMatchObject({ sources: [expect.stringMatching(/^run_/)] });
    expect(readdirSync(sources)).toHaveLength(1);
    expect((await call('run', 'watch', '--resume', '@last')).code).toBe(0);
    expect((await call('run', 'retry', '@last')).code).toBe(0);
  });
});
