/**
 * The package at a glance: what a program needs to read a plan and carry its run. The rooms have entry points of
 * their own: `forgeyard/machines`, `/actors`, `/store`, `/runner`, `/spec` and `/conformance`.
 */
export type { ActorRef, CommandResult, CreateRunResult, Runtime, RuntimeOptions } from './actors/index.ts';
export { createRuntime } from './actors/index.ts';
export type { ParsedPlan } from './daemon/plan/index.ts';
export { parsePlanText, planJsonSchema, readPlanFile, renderProblems, sha256Digest } from './daemon/plan/index.ts';
export type { ExecutablePlan } from './machines/index.ts';
export { canonicalJson, compilePlan, gate, job, planOf } from './machines/index.ts';
export type { Agent, AgentOptions } from './runner/index.ts';
export { createAgent, createOutputStore, systemClock } from './runner/index.ts';
export type { Store } from './store/index.ts';
export { createMemoryStore, openSqliteStore } from './store/index.ts';
export type { RunnerTransport } from './transport/index.ts';
export { createMemoryLink } from './transport/memory/index.ts';
