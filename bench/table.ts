/**
 * What compiling the statecharts buys: one step of the job's table against XState's `transition()`, over the same
 * random walk with the same guards. Snapshots are prepared outside the timed part, in favour of XState.
 */
import { transition } from 'xstate';
import type { JobInput } from '../machines/index.ts';
import { jobChart, jobEvents, quietJobInput, step } from '../machines/index.ts';

export interface TableBench {
  /** How many table steps fit into one XState transition. */
  readonly ratio: number;
  readonly tableNsPerStep: number;
  readonly xstateNsPerStep: number;
}

export interface TableBenchOptions {
  readonly seed?: number;
  /** Steps of the walk; XState takes each once per round. */
  readonly steps?: number;
  /** Rounds of each side; the fastest one counts. */
  readonly rounds?: number;
}

export interface Visit {
  readonly state: string;
  readonly event: string;
  readonly input: JobInput;
}

/** So many table rounds are timed as one, as a single round is too short for the clock. */
const tableRepeats = 50;

export function benchTable({ seed = 1, steps = 4_000, rounds = 5 }: TableBenchOptions = {}): TableBench {
  const walk = randomWalk(seed, steps);
  const prepared = walk.map(({ state, event, input }) => ({
    snapshot: jobChart.machine.resolveState({ value: state, context: input }),
    event: { type: event },
  }));
  // Both count something of the result, so that none of the work can be optimised away.
  const byTable = (): number => {
    let moves = 0;
    for (let repeat = 0; repeat < tableRepeats; repeat += 1) {
      for (const { state, event, input } of walk) if (step(jobChart, state, event, input).kind === 'move') moves += 1;
    }
    return moves;
  };
  const byXState = (): number => {
    let actions = 0;
    for (const { snapshot, event } of prepared) actions += transition(jobChart.machine, snapshot, event)[1].length;
    return actions;
  };
  const tableNsPerStep = fastestNs(byTable, rounds) / (steps * tableRepeats);
  const xstateNsPerStep = fastestNs(byXState, rounds) / steps;
  return { ratio: xstateNsPerStep / tableNsPerStep, tableNsPerStep, xstateNsPerStep };
}

/** The first round warms up and does not count. */
function fastestNs(run: () => number, rounds: number): number {
  const expected = run();
  let fastest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round += 1) {
    const start = process.hrtime.bigint();
    const counted = run();
    fastest = Math.min(fastest, Number(process.hrtime.bigint() - start));
    if (counted !== expected) throw new Error('the same walk gave another result');
  }
  return fastest;
}

/** Lives of jobs under inputs that change: mostly events the state lists, one in eight any; a new life after each end. */
export function randomWalk(seed: number, steps: number): readonly Visit[] {
  const draw = generator(seed);
  const pick = <Item>(items: readonly Item[], otherwise: Item): Item => items[draw(items.length)] ?? otherwise;
  const { initial, terminal } = jobChart.table;
  const walk: Visit[] = [];
  let state = initial;
  while (walk.length < steps) {
    const events = draw(8) === 0 ? jobEvents : Object.keys(jobChart.table.rows[state] ?? {});
    const visit = { state, event: pick(events, 'Skip'), input: pick(inputs, quietJobInput) };
    walk.push(visit);
    const decided = step(jobChart, visit.state, visit.event, visit.input);
    if (decided.kind === 'move') state = terminal.includes(decided.target) ? initial : decided.target;
  }
  return walk;
}

const inputs: readonly JobInput[] = [
  quietJobInput,
  quietJobInput,
  { ...quietJobInput, due: false },
  { ...quietJobInput, outputsVerified: false },
  { ...quietJobInput, intent: { kind: 'Cancelled', reason: 'OperatorCancelled' }, requested: 'FailFast' },
  { ...quietJobInput, intent: { kind: 'TimedOut', reason: 'ExecutionTimeout' }, failureClass: 'Timeout' },
  { ...quietJobInput, failureClass: 'Infrastructure', retry: { retry: true, delayMs: 10, budget: 'infrastructure' } },
  { ...quietJobInput, failureClass: 'UserCommand' },
];

/** Draws whole numbers below a bound (mulberry32). */
function generator(seed: number): (bound: number) => number {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}
