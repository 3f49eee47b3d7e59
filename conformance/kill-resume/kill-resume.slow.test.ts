/** kill -9 of the whole process during examples, then resume: the same end as if nothing had happened. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { historyProblems, parseFacts } from './history.ts';
import { markedPlan, markPlaces } from './marked-plan.ts';
import { drawKills, forgeyard, runWithKills } from './run-with-kills.ts';
import { seededRandom } from './seeded-random.ts';

const examples = join(import.meta.dirname, '..', '..', 'examples');
const expected = z
  .record(z.string(), z.object({ result: z.string(), exitCode: z.number(), jobs: z.record(z.string(), z.string()) }))
  .parse(JSON.parse(readFileSync(join(examples, 'expected.json'), 'utf8')));
const shown = z.object({
  state: z.string(),
  nodes: z.array(
    z.object({
      kind: z.string(),
      id: z.string(),
      name: z.string(),
      state: z.string(),
      matrix: z.string().nullish(),
      attempts: z.number().optional(),
    }),
  ),
});

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'forgeyard-kill-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true, maxRetries: 5 }));

const plans = [
  'quickstart',
  'outputs',
  'on-failure',
  'continue-on-error',
  'cache-hit',
  'retry-flaky',
  'retry-exhausted',
  'fail-fast-matrix',
  'conditions',
  'secrets',
];
/** Another one replays or searches: KILL_SEED=7 npx vitest run conformance/kill-resume. */
const firstSeed = Number(process.env.KILL_SEED ?? 100);
const cases = plans.map((name, index) => ({ name: `${name}.yaml`, seed: firstSeed + index }));
const seen = { kills: 0, lost: 0 };

describe('000 §375.27 000 §376.26 kill -9 and resume', () => {
  it.each(cases)('$name, seed $seed: same end, no success lost, no attempt twice', async ({ name, seed }) => {
    const want = expected[name];
    if (want === undefined) throw new Error(`${name} has no expected end`);
    const places = markPlaces(cwd);
    mkdirSync(places.marks);
    const plan = join(cwd, 'plan.json');
    writeFileSync(plan, markedPlan(readFileSync(join(examples, name), 'utf8'), places));
    const project = { cwd, env: { EXAMPLE_TOKEN: 'open-sesame' } };

    const run = await runWithKills(project, plan, drawKills(seededRandom(seed)));
    expect(run.code, run.stderr).toBe(want.exitCode);

    const view = shown.parse(JSON.parse((await forgeyard(project, ['run', 'show', run.id, '-o', 'json'])).stdout));
    expect(view.state).toBe(want.result);
    for (const { name: node, matrix, state } of view.nodes) {
      const end = want.jobs[node] ?? want.jobs[matrix ?? ''];
      if (end !== undefined) expect(`${node} ${state}`).toBe(`${node} ${end}`);
    }
    const facts = parseFacts(run.stdout);
    expect(historyProblems(facts)).toEqual([]);
    seen.kills += run.kills;
    seen.lost += facts.filter((fact) => fact.type === 'AttemptEnded' && fact.to === 'Lost').length;
    expect(existsSync(places.doubles) ? readFileSync(places.doubles, 'utf8') : '').toBe('');
    // A mark is one attempt: there can be no more of them than the store knows of.
    const attempts = view.nodes.reduce((sum, node) => sum + (node.attempts ?? 0), 0);
    expect(readdirSync(places.marks).length).toBeLessThanOrEqual(attempts);
    expect((await forgeyard(project, ['store', 'check'])).code).toBe(0);
  });

  it('the kills met living processes, and some of them took attempts with them', () => {
    expect(seen.kills).toBeGreaterThanOrEqual(plans.length);
    expect(seen.lost).toBeGreaterThan(0);
  });
});
