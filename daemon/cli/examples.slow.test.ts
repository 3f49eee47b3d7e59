/** Every example, by the program itself, ends as examples/expected.json says. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { exampleFile, forgeyard, json, start, temporaryProject } from './test-support/forgeyard.ts';

const expectation = z.object({
  result: z.string(),
  exitCode: z.number(),
  jobs: z.record(z.string(), z.string()),
  gates: z.record(z.string(), z.string()).default({}),
  attempts: z.record(z.string(), z.number()).default({}),
  cacheHits: z.array(z.string()).default([]),
  needs: z.string(),
});
type Expectation = z.infer<typeof expectation>;

const expected = z
  .record(z.string(), expectation)
  .parse(JSON.parse(readFileSync(exampleFile('expected.json'), 'utf8')));

const shown = z.object({
  state: z.string(),
  nodes: z.array(
    z.object({
      kind: z.enum(['job', 'gate']),
      name: z.string(),
      state: z.string(),
      matrix: z.string().nullish(),
      attempts: z.number().optional(),
      executionSource: z.string().nullish(),
    }),
  ),
});

let project = temporaryProject();
beforeEach(() => {
  project = temporaryProject();
});
afterEach(() => project.remove());

/** What has to happen meanwhile, by somebody else. */
async function meanwhile(needs: string, running: ReturnType<typeof start>, file: string): Promise<void> {
  const place = { cwd: project.cwd };
  const [kind, name = ''] = needs.split(':');
  switch (kind) {
    case 'cancel':
      await running.seen(/slow {2}runs/);
      expect((await forgeyard(place, 'run', 'cancel', '@last')).code).toBe(0);
      return;
    case 'second-start': {
      await running.seen(/deploy {2}runs/);
      expect((await forgeyard(place, 'run', 'start', file, '--detach')).code).toBe(0);
      return;
    }
    case 'approve':
      await running.seen(/waits for a decision/);
      expect((await forgeyard(place, 'gate', 'approve', `@last/${name}`)).code).toBe(0);
      return;
    default:
      return;
  }
}

function optionsFor(needs: string): { readonly words: readonly string[]; readonly env: Record<string, string> } {
  const [kind, name = ''] = needs.split(':');
  if (kind === 'secret-command') return { words: ['--secret-command', `${name}=["sleep","60"]`], env: {} };
  if (kind === 'env') return { words: [], env: { [name]: 'open-sesame' } };
  return { words: [], env: {} };
}

function compare(view: z.infer<typeof shown>, want: Expectation): void {
  expect(view.state).toBe(want.result);
  for (const node of view.nodes) {
    const states = node.kind === 'job' ? want.jobs : want.gates;
    const state = states[node.name] ?? states[node.matrix ?? ''];
    if (state !== undefined) expect(`${node.name} ${node.state}`).toBe(`${node.name} ${state}`);
    const attempts = want.attempts[node.name];
    if (attempts !== undefined) expect(node.attempts).toBe(attempts);
    expect(node.executionSource === 'CacheHit').toBe(want.cacheHits.includes(node.name));
  }
}

describe('examples', () => {
  const cases = Object.entries(expected).filter(([, { needs }]) => needs !== 'runner-killed');

  it.each(cases)('%s ends as it says', async (name, want) => {
    const file = exampleFile(name);
    const { words, env } = optionsFor(want.needs);
    const running = start(
      { cwd: project.cwd, env },
      'run',
      'start',
      file,
      '--request-id',
      'first',
      '--slots',
      '4',
      ...words,
    );
    await meanwhile(want.needs, running, file);
    const { code, stdout, stderr } = await running.ended;
    expect(code, stderr).toBe(want.exitCode);
    const [id = ''] = /run_\w{26}/.exec(stdout) ?? [];
    compare(shown.parse(await json({ cwd: project.cwd }, 'run', 'show', id)), want);
    expect((await forgeyard({ cwd: project.cwd }, 'store', 'check')).code).toBe(0);
  });
});
