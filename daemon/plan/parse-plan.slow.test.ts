import { expect, test } from 'vitest';
import { planLimits } from '../../machines/plan/index.ts';
import { parsePlanText } from './parse-plan.ts';

/** Only comments and one small plan: `count` tokens in all, as two stand for each line of comment. */
function padded(count: number): string {
  const plan = '{project: p, name: n, jobs: {a: {steps: [x]}}}\n';
  return `${'#\n'.repeat(count / 2)}${plan}`;
}

function codesOf(text: string): string[] {
  const parsed = parsePlanText(text, { file: 'plan', format: 'yaml' });
  return parsed.ok ? ['ok'] : parsed.problems.map(({ code }) => code);
}

test('plan text: tokensMax: a file near the limit is read, one past it is refused before it is parsed', () => {
  const { value } = planLimits.tokensMax;
  expect(codesOf(padded(value - 100))).toEqual(['ok']);
  expect(codesOf(padded(value))).toEqual(['FileTooLarge']);
});
