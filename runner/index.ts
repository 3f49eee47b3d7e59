export type { Agent } from './agent/agent.ts';
export { createAgent } from './agent/agent.ts';
export type { AgentOptions, AgentTuning } from './agent/agent-options.ts';
export { defaultTuning } from './agent/agent-options.ts';
export type { AgentEvent, AgentFailpoint, AttemptEnd } from './agent/events.ts';
export type { RunnerClock } from './clock.ts';
export { systemClock } from './clock.ts';
export type { KeeperPlace } from './lease/start-keeper.ts';
export { stepFileName } from './logs/attempt-log.ts';
export type {
  Collected,
  CollectOptions,
  ListedObject,
  OutputStore,
  OutputVerifier,
  ReadObject,
  StoredObject,
  VerifiedObjects,
} from './outputs/index.ts';
export { collectGarbage, createOutputStore, listObjects } from './outputs/index.ts';
export * from './protocol/index.ts';
export type { CollectedFolders, RetentionOptions } from './retention/collect-old.ts';
export { collectOldLogs, collectOldWorkspaces } from './retention/collect-old.ts';
export type { SecretProviders } from './secrets/resolve-secrets.ts';
