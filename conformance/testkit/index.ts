/** What tests of programs built on this package need: time, chance, a scripted runner, a stage, and checkers. */
export { countedIds, seededRandom } from './chance.ts';
export { checkHistory, checkStore } from './checks.ts';
export { insist } from './insist.ts';
export { insistentRuntime } from './insistent-runtime.ts';
export { createManualTime, type ManualTime } from './manual-time.ts';
export { allFacts, allRuns, readRun, type WholeRun } from './read-run.ts';
export {
  type Completion,
  createScriptedRunner,
  type Failure,
  type RunnerMessage,
  type ScriptedRunner,
  type ScriptedRunnerOptions,
} from './scripted-runner.ts';
export { type Host, type HostOptions, openStage, type Stage, type StageOptions, user } from './stage.ts';
