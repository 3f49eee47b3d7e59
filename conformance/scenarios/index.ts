/** Incidents from the field as text: a plan, commands, and the whole trace that must come of them, for any engine. */
export { coreEngine, type EngineAnswer, type EngineRows, type ScenarioEngine, scenarioLimits } from './engine.ts';
export { renderScenario } from './run.ts';
export { checkScenario, type ScenarioFile, scenarioFiles, updateScenario } from './suite.ts';
