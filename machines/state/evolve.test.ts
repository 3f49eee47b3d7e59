import { describe, expect, test } from 'vitest';
import {
  cancelJob,
  createWorld,
  failing,
  planFor,
  succeed,
  wholeFoldDifferences,
} from '../../conformance/core/index.ts';
import type { Fact } from '../model/facts.ts';
import { gate, job } from '../plan/builder.ts';
import { evolve } from './evolve.ts';
import { aggregateOf, draftOver } from './run-state.ts';

/** A finished run, its facts, and the rows it began with. */
function lived() {
  const retry = { attempts: 2, on: ['UserCommand' as const] };
  const plan = planFor([job('a', { retry }), job('b', { needs: ['a'] }), job('c'), gate('g', { needs: ['c'] })]);
  const world = createWorld(plan);
  failing(world, 'a');
  succeed(world, 'a');
  world.submit(cancelJob(world, 'c'));
  world.followUp();
  succeed(world, 'b');
  return { world, born: world.born() };
}

describe('evolve', () => {
  test('000 §375.34: folding all facts gives the rows of the run', () => {
    const { world, born } = lived();
    for (const fact of world.facts) evolve(born, fact);
    expect(wholeFoldDifferences(born, world.state)).toEqual([]);
    expect(born.run.state).toBe('Cancelled');
    expect([...born.attempts.values()].map(({ state }) => state)).toEqual(['Failed', 'Succeeded', 'Succeeded']);
  });

  test('003 §303.10: a history with a hole, a repetition or a wrong order is found where it tears', () => {
    const { world, born } = lived();
    const [first, second, third] = world.facts;
    if (first === undefined || second === undefined || third === undefined) throw new Error('three facts at least');
    evolve(born, first);
    expect(() => evolve(born, first)).toThrow('does not follow 1');
    expect(() => evolve(born, third)).toThrow('does not follow 1');
    evolve(born, second);
    expect(born.sequence).toBe(2);
  });

  test('003 §303.11: facts follow their numbers, whatever their times say', () => {
    const { world, born } = lived();
    for (const fact of world.facts) evolve(born, { ...fact, at: 2_000_000 - fact.sequence });
    expect(born.nodes.map(({ state }) => state)).toEqual(world.state.nodes.map(({ state }) => state));
    expect(born.run.state).toBe(world.state.run.state);
  });

  test('a fact whose `from` is not the state of the row is refused, for every kind of row', () => {
    const { world } = lived();
    const kinds: readonly Fact['type'][] = [
      'RunStarted',
      'JobLeased',
      'AttemptEnded',
      'LeaseAccepted',
      'GateCancelled',
    ];
    for (const type of kinds) {
      const { born } = lived();
      const at = world.facts.findIndex((fact) => fact.type === type);
      for (const fact of world.facts.slice(0, at)) evolve(born, fact);
      const fact = world.facts[at];
      if (fact === undefined) throw new Error(`no ${type}`);
      const torn = { ...fact, from: fact.to } as Fact;
      expect(() => evolve(born, torn)).toThrow(/is .*, not /);
    }
  });

  test('facts about attempts and leases that never were are refused', () => {
    const { world } = lived();
    for (const type of ['JobPreparing', 'AttemptEnded', 'LeaseReleased'] as const) {
      const { born } = lived();
      const fact = world.facts.find((each) => each.type === type);
      if (fact === undefined) throw new Error(`no ${type}`);
      born.setSequence(fact.sequence - 1);
      if (fact.entity === 'job') born.putNode({ ...born.job(fact.index), state: fact.from });
      expect(() => evolve(born, fact)).toThrow(/no (attempt|lease)/);
    }
    const granted = world.facts.find((each) => each.type === 'LeaseGranted');
    const { born } = lived();
    if (granted?.entity !== 'lease') throw new Error('a lease was granted');
    born.setSequence(granted.sequence - 1);
    expect(() => evolve(born, { ...granted, set: {} })).toThrow('does not carry its row');
  });
});

describe('aggregate and draft', () => {
  test('a draft keeps its changes to itself, counters included', () => {
    const { state } = createWorld(planFor([job('a'), job('b', { needs: ['a'] }), gate('g', { needs: ['b'] })]));
    const draft = draftOver(state);
    draft.putNode({ ...draft.job(0), state: 'Running' });
    expect([draft.heldJobs, state.heldJobs]).toEqual([1, 0]);
    draft.putNode({ ...draft.job(0), state: 'Succeeded' });
    expect([draft.openNodes, draft.heldJobs, draft.openUpstreams(1)]).toEqual([2, 0, 0]);
    expect([state.openNodes, state.openUpstreams(1), state.job(0).state]).toEqual([3, 1, 'Eligible']);
    draft.putNode({ ...draft.job(1), state: 'Skipped', satisfies: true });
    expect([draft.openDependents(0), state.openDependents(0), draft.openUpstreams(2)]).toEqual([0, 1, 0]);
  });

  test('a draft over a draft sees both and changes neither base', () => {
    const { state } = createWorld(planFor([job('a'), job('b')]));
    const first = draftOver(state);
    first.putNode({ ...first.job(0), state: 'Succeeded' });
    const second = draftOver(first);
    second.putNode({ ...second.job(1), state: 'Succeeded' });
    expect([second.openNodes, first.openNodes, state.openNodes]).toEqual([0, 1, 2]);
    expect([second.job(0).state, first.job(1).state]).toEqual(['Succeeded', 'Eligible']);
  });

  test('rows that do not fit the plan are not loaded', () => {
    const { state } = createWorld(planFor([job('a'), job('b')]));
    const rows = { run: state.run, plan: state.index.plan, attempts: [], leases: [] };
    expect(() => aggregateOf({ ...rows, nodes: state.nodes.slice(1) })).toThrow('differ in number');
    expect(() => state.node(7)).toThrow('no node 7');
    expect(() => state.gate(0)).toThrow('a is a job');
  });
});
