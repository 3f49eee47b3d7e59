/** Start-up is cheap because little is loaded: what is loaded is counted, as time depends on the machine. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleFile, forgeyard, temporaryProject } from './test-support/forgeyard.ts';

const project = temporaryProject();
beforeAll(async () => {
  expect((await forgeyard({ cwd: project.cwd }, 'run', 'start', exampleFile('conditions.yaml'))).code).toBe(0);
});
afterAll(() => project.remove());

/** Preloaded: says on stderr, as the last line, which packages and folders of ours were loaded. */
const counter = `
import { registerHooks } from 'node:module';
const loaded = new Set();
const place = /\\/node_modules\\/([^/]+)|\\/((?:machines|actors|runner|store|transport|daemon)\\/[^/]+)\\//;
registerHooks({
  load(url, context, next) {
    const found = place.exec(url);
    if (found !== null) loaded.add(found[1] ?? found[2]);
    return next(url, context);
  },
});
process.on('exit', () => process.stderr.write(JSON.stringify([...loaded].sort()) + '\\n'));
`;

function loadedBy(...words: readonly string[]): readonly string[] {
  const program = join(import.meta.dirname, 'main.ts');
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(counter)}`];
  const { stderr } = spawnSync(process.execPath, [...preload, program, ...words], {
    cwd: project.cwd,
    encoding: 'utf8',
  });
  const names: unknown = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
  if (!Array.isArray(names)) throw new Error(stderr);
  return names.map(String);
}

describe('start-up', () => {
  it('--version loads the command line and nothing else', () => {
    expect(loadedBy('--version')).toEqual(['daemon/cli']);
  });

  it.each([
    ['run', 'list'],
    ['run', 'show', '@last'],
    ['job', 'attempts', '@last/package'],
    ['run', '--help'],
  ])('%s %s loads no statecharts, no schemas, no YAML, no runner', (...words) => {
    const loaded = loadedBy(...words.filter((word) => word !== undefined));
    for (const heavy of ['xstate', 'zod', 'yaml', 'machines/charts', 'runner/agent', 'actors/loops'])
      expect(loaded).not.toContain(heavy);
    expect(loaded).toContain('commander');
  });
});
