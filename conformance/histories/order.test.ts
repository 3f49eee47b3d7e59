import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ExecutablePlan, NodeRow } from '../../machines/index.ts';
import { isRunTerminal } from '../../machines/index.ts';
import type { World } from '../core/index.ts';
import { cancelJob, createWorld, decideGate, failing, succeed } from '../core/index.ts';
import { pick } from './draws.ts';
import { expectedVerdict } from './oracle.ts';
import { planArbitrary } from './plan-arbitrary.ts';

type Fate = 'succeed' | 'fail' | 'cancel';

/** Fail-fast is about order; without it only the ends may count. */
const unhurried = (plan: ExecutablePlan): ExecutablePlan => ({
  ...plan,
  failFast: false,
  deadlineMs: null,
  nodes: plan.nodes.map((node) =>
    node.kind === 'gate'
      ? { ...node, expiryMs: null, approvers: [] }
      : { ...node, matrix: null, retry: { ...node.retry, attemptsMax: 1 }, spec: { ...node.spec, capabilities: [] } },
  ),
});

/** Lets every node that can run meet its fate, in the order the draws say; follow-ups come when drawn, or last. */
function live(
  plan: ExecutablePlan,
  fates: readonly Fate[],
  order: readonly number[],
  inline: number,
): readonly string[] {
  const world = createWorld(plan, { limits: { inlineDependentsMax: inline } });
  for (let turn = 0; !isRunTerminal(world.state.run.state); turn += 1) {
    if (turn > 200) throw new Error('the run does not end');
    const draw = pick(order, turn);
    const ready = world.state.nodes.filter((row) => canEnd(row));
    if (world.pending.length > 0 && (ready.length === 0 || draw % 3 === 0)) {
      world.followUp();
      continue;
    }
    const row = pick(ready, draw);
    meet(world, row, pick(fates, row.index));
  }
  expect(world.problems()).toEqual([]);
  expect(world.state.run.state).toBe(expectedVerdict(plan, world.state.nodes));
  return [world.state.run.state, ...world.state.nodes.map(endOf)];
}

const canEnd = (row: NodeRow): boolean =>
  row.kind === 'job' ? row.state === 'Eligible' : row.state === 'Pending' && row.openedAt !== null;

/** State and whether a skip satisfies; the root a reason names may depend on the order. */
const endOf = (row: NodeRow): string => `${row.node} ${row.state} ${row.kind === 'job' ? row.satisfies : ''}`;

function meet(world: World, row: NodeRow, fate: Fate): void {
  if (row.kind === 'gate') world.submit(decideGate(world, row.node, fate === 'succeed' ? 'approve' : 'reject'));
  else if (fate === 'succeed') succeed(world, row.node);
  else if (fate === 'fail') failing(world, row.node, 'UserCommand');
  else world.submit(cancelJob(world, row.node));
}

describe('order', () => {
  test('000 §376.18: states, skips and the verdict are a function of the ends, not of their order', () => {
    const fates = fc.array(fc.constantFrom<Fate>('succeed', 'succeed', 'fail', 'cancel'), {
      minLength: 8,
      maxLength: 8,
    });
    const order = fc.array(fc.nat({ max: 40 }), { minLength: 12, maxLength: 12 });
    fc.assert(
      fc.property(
        planArbitrary,
        fates,
        order,
        order,
        fc.integer({ min: 1, max: 9 }),
        (plan, ends, one, other, inline) => {
          const calm = unhurried(plan);
          const gates = new Set<string>(calm.nodes.filter(({ kind }) => kind === 'gate').map(({ name }) => name));
          const ofGates = (lines: readonly string[]) => lines.filter((line) => gates.has(line.split(' ')[0] ?? ''));
          const [first, second] = [live(calm, ends, one, inline), live(calm, ends, other, 1_000)];
          // Whether somebody is still asked for a decision may depend on the order; then the ends are not the same ones.
          fc.pre(ofGates(first).join() === ofGates(second).join());
          expect(first).toEqual(second);
        },
      ),
      { numRuns: 400 },
    );
  });
});
