/** The checked-in scenarios, read once, to be run against any engine. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ScenarioEngine } from './engine.ts';
import { renderScenario } from './run.ts';

export interface ScenarioFile {
  /** `s01-late-success-of-a-lost-attempt`. */
  readonly name: string;
  readonly text: string;
}

const folder = path.join(import.meta.dirname, 'cases');

export function scenarioFiles(): readonly ScenarioFile[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.txt'))
    .sort()
    .map((file) => ({ name: file.slice(0, -'.txt'.length), text: readFileSync(path.join(folder, file), 'utf8') }));
}

export interface ScenarioResult {
  readonly written: string;
  readonly expected: string;
}

/** Equal texts: the engine does what the scenario says. */
export async function checkScenario(scenario: ScenarioFile, engine: ScenarioEngine): Promise<ScenarioResult> {
  return { written: await renderScenario(scenario.text, engine), expected: scenario.text };
}

/** Writes the trace of this engine into the file; a person reviews the difference. */
export async function updateScenario(scenario: ScenarioFile, engine: ScenarioEngine): Promise<void> {
  writeFileSync(path.join(folder, `${scenario.name}.txt`), await renderScenario(scenario.text, engine));
}
