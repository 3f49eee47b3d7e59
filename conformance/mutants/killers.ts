/** The suites that judge mutants: behaviours for all of them, scenarios and histories for what those let live. */
import assert from 'node:assert/strict';
import { behaviours } from '../directed/index.ts';
import { searchHistories } from '../histories/index.ts';
import { checkScenario, coreEngine, scenarioFiles } from '../scenarios/index.ts';
import type { Killer, Killers } from './judge.ts';

/** Enough to reach everything common, on one seed: a survivor is the same every time. */
const historiesRuns = 400;

const scenarios: readonly Killer[] = scenarioFiles().map((file) => ({
  suite: 'scenarios',
  name: file.name,
  run: async (charts) => {
    const { written, expected } = await checkScenario(file, coreEngine(charts));
    assert.equal(written, expected);
  },
}));

const histories: Killer = {
  suite: 'histories',
  name: 'hostile histories',
  run: (charts) => {
    const { failure } = searchHistories({ runs: historiesRuns, seed: 1, charts });
    assert.equal(failure, null);
  },
};

export const killers: Killers = {
  quick: behaviours.map(({ name, run }) => ({ suite: 'directed', name, run })),
  thorough: [...scenarios, histories],
};
