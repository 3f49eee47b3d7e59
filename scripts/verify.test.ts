import { describe, expect, test } from 'vitest';
import type { StepResult } from './verify/run-steps.ts';
import { runSteps } from './verify/run-steps.ts';
import type { Step } from './verify/steps.ts';
import { steps } from './verify/steps.ts';

function step(name: string, ...after: string[]): Step {
  return { name, script: [name], after };
}

async function trace(list: readonly Step[], lanes: number): Promise<readonly string[]> {
  const lines: string[] = [];
  const execute = async ({ name }: Step): Promise<StepResult> => {
    lines.push(`start ${name}`);
    await Promise.resolve();
    return { name, passed: name !== 'bad', seconds: 0, output: '' };
  };
  const results = await runSteps(list, { lanes, execute, onResult: ({ name }) => lines.push(`end ${name}`) });
  expect(results).toHaveLength(list.length);
  return lines;
}

describe('verify', () => {
  test('one lane runs the steps one by one in their order', async () => {
    expect(await trace([step('a'), step('b')], 1)).toEqual(['start a', 'end a', 'start b', 'end b']);
  });

  test('a step waits for those it comes after, and others overtake it', async () => {
    expect(await trace([step('late', 'early'), step('early')], 2)).toEqual([
      'start early',
      'end early',
      'start late',
      'end late',
    ]);
  });

  test('a failed step stops nothing', async () => {
    expect(await trace([step('bad'), step('next', 'bad')], 1)).toContain('end next');
  });

  test('steps that wait for each other are an error, not an endless wait', async () => {
    await expect(trace([step('a', 'b'), step('b', 'a')], 2)).rejects.toThrow('wait for each other');
  });

  test('every step the list waits for is in the list', () => {
    const names = steps.map((each) => each.name);
    expect(steps.flatMap((each) => each.after).filter((name) => !names.includes(name))).toEqual([]);
  });
});
