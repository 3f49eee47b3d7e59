import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { aggregateOf, reconcileRun } from '../../machines/index.ts';
import type { World } from '../core/index.ts';
import { createWorld } from '../core/index.ts';
import type { Issued } from './commands.ts';
import { commandFor, passTime } from './commands.ts';
import { drawArbitrary } from './draws.ts';
import { planArbitrary } from './plan-arbitrary.ts';

const look = (world: World) =>
  reconcileRun(world.state, { now: world.now, isSessionActive: (session) => !world.inactive.has(session) });

/** Repairs need as many passes as the graph is deep, with a lost job before and a run after it. */
const passesMax = 24;

function passesToQuiet(world: World): number {
  for (let pass = 0; pass < passesMax; pass += 1) {
    const issues = look(world);
    if (issues.length === 0) return pass;
    for (const { repair, detail } of issues) {
      if (repair === null) throw new Error(`nobody repairs: ${detail}`);
      world.submit(repair, 'system:reconciler');
    }
    world.pending.splice(0);
  }
  throw new Error('no fixed point');
}

describe('histories: reconcile', () => {
  test('003 §301.20, 000 §376.26: from any history cut off anywhere, rows alone lead to a fixed point', () => {
    const draws = fc.array(drawArbitrary, { maxLength: 40, size: 'max' });
    fc.assert(
      fc.property(planArbitrary, draws, fc.constantFrom(0, 10_000, 60_000, 3_600_000), (plan, steps, silenceMs) => {
        const world = createWorld(plan, { limits: { refusalsMax: 3, inlineDependentsMax: 2 } });
        const said: Issued[] = [];
        for (const step of steps) {
          const issued = commandFor(world, step, said);
          if (issued === null) passTime(world, step);
          else {
            said.push(issued);
            world.submit(issued.command, issued.actor);
          }
        }
        // The process dies here: what follow-ups it had in mind is gone, only rows are left, and time has passed.
        world.pending.splice(0);
        world.now += silenceMs;
        passesToQuiet(world);
        expect(world.problems()).toEqual([]);
        const { sequence } = world.state.run;
        expect(passesToQuiet(world)).toBe(0);
        expect(world.state.run.sequence).toBe(sequence);
      }),
      { numRuns: 300 },
    );
  });

  test('what is loaded from rows is the state that was in memory', () => {
    const draws = fc.array(drawArbitrary, { maxLength: 40, size: 'max' });
    fc.assert(
      fc.property(planArbitrary, draws, (plan, steps) => {
        const world = createWorld(plan);
        const said: Issued[] = [];
        for (const step of steps) {
          const issued = commandFor(world, step, said);
          if (issued !== null) {
            said.push(issued);
            world.submit(issued.command, issued.actor);
          } else passTime(world, step);
        }
        const { state } = world;
        const loaded = aggregateOf({
          run: state.run,
          plan,
          nodes: state.nodes,
          attempts: [...state.attempts.values()],
          leases: [...state.leases.values()],
        });
        expect([loaded.openNodes, loaded.heldJobs]).toEqual([state.openNodes, state.heldJobs]);
        for (const at of plan.nodes.keys()) {
          expect(loaded.openUpstreams(at)).toBe(state.openUpstreams(at));
          expect(loaded.openDependents(at)).toBe(state.openDependents(at));
        }
      }),
      { numRuns: 200 },
    );
  });
});
