/** One thing the core must do, said by driving it. The same behaviours judge the real charts and every mutant. */
import assert from 'node:assert/strict';
import type { Charts, Decision, Fact } from '../../machines/index.ts';
import type { BuiltNode } from '../../machines/plan/index.ts';
import type { RunHeader, World, WorldOptions } from '../core/index.ts';
import { createWorld, planFor } from '../core/index.ts';

export type MakeWorld = (
  nodes: readonly BuiltNode[],
  header?: RunHeader,
  options?: Omit<WorldOptions, 'charts'>,
) => World;

export interface Behaviour {
  readonly name: string;
  /** Throws where the core does otherwise. */
  readonly run: (charts: Charts) => void;
}

/** The worlds a behaviour made are judged once more when it has ended: whatever it shows, nothing else may break. */
export function behaviour(name: string, drive: (world: MakeWorld) => void): Behaviour {
  return {
    name,
    run(charts) {
      const worlds: World[] = [];
      drive((nodes, header, options) => {
        const world = createWorld(planFor(nodes, header), { frozen: true, ...options, charts });
        worlds.push(world);
        return world;
      });
      for (const world of worlds) assert.deepEqual(world.problems(), []);
    },
  };
}

/** `accepted`, `no-op CODE` or `rejected CODE`. */
const answerOf = (decision: Decision): string =>
  decision.outcome === 'accepted' ? 'accepted' : `${decision.outcome} ${decision.code}`;

export function expectAnswer(decision: Decision, answer: string): void {
  assert.equal(answerOf(decision), answer);
}

/** The facts of a decision, as `Type:reason`. */
export function factsOf(decision: Decision): readonly string[] {
  const changes =
    decision.outcome === 'accepted' ? decision.changes : decision.outcome === 'rejected' && decision.audit;
  return changes === false || changes === null ? [] : changes.facts.map(shortFact);
}

const shortFact = (fact: Fact): string => `${fact.type}:${fact.reason.code}`;

/** Runs something and shows that it changed nothing but the audit. */
export function expectUntouched(world: World, act: () => Decision, answer: string): void {
  const rows = () => ({ nodes: [...world.state.nodes], run: world.state.run.state, intent: world.state.run.intent });
  const before = rows();
  expectAnswer(act(), answer);
  assert.deepEqual(rows(), before);
}
