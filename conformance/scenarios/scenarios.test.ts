import { describe, expect, test } from 'vitest';
import { checkScenario, coreEngine, renderScenario, scenarioFiles, updateScenario } from './index.ts';

/** `UPDATE=1 npx vitest run conformance/scenarios` writes the traces anew: review the difference. */
const updates = process.env.UPDATE === '1';

describe('scenarios', () => {
  for (const scenario of scenarioFiles()) {
    test(scenario.name, async () => {
      if (updates) await updateScenario(scenario, coreEngine());
      const { written, expected } = await checkScenario(scenario, coreEngine());
      if (!updates) expect(written).toBe(expected);
      expect(written).not.toContain('BROKEN');
      expect(written).not.toContain('no fixed point');
    });
  }

  test('a trace that differs is noticed, and every file is written by the runner', async () => {
    const [first] = scenarioFiles();
    const wrong = first?.text.replace('accepted', 'rejected Stale') ?? '';
    expect(wrong).not.toBe(first?.text);
    expect(await renderScenario(wrong, coreEngine())).toBe(first?.text);
  });
});
