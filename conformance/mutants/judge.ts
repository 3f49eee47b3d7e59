/** Runs every mutant against the suites until one goes red. */
import type { Charts } from '../../machines/index.ts';
import { charts, effectChart, outboxChart, sessionChart, timerChart } from '../../machines/index.ts';
import type { Mutation } from './mutations.ts';
import { mutated, mutationsOf } from './mutations.ts';
import type { EveryChart } from './step-behaviours.ts';
import { stepBehaviours } from './step-behaviours.ts';

/** One thing that must go red on a wrong chart. */
export interface Killer {
  readonly suite: string;
  readonly name: string;
  readonly run: (charts: Charts) => void | Promise<void>;
}

export interface Killers {
  /** Small and fast; asked for every mutant of a core chart. */
  readonly quick: readonly Killer[];
  /** Asked only about what all others let live. */
  readonly thorough: readonly Killer[];
}

export interface MutantReport {
  readonly mutants: number;
  readonly killed: number;
  readonly equivalent: number;
  readonly survivors: readonly string[];
  /** Listed as equivalent, yet a suite told them apart; or listed and no mutant at all. */
  readonly wrongProofs: readonly string[];
  /** Killed mutants in hundredths of all that are not equivalent. */
  readonly score: number;
  readonly killedBy: Readonly<Record<string, number>>;
}

const everyChart: EveryChart = {
  ...charts,
  session: sessionChart,
  outbox: outboxChart,
  timer: timerChart,
  effect: effectChart,
};
const core: ReadonlySet<string> = new Set(Object.keys(charts));

type ChartKey = keyof EveryChart;
const chartKeys: readonly ChartKey[] = [
  'run',
  'job',
  'attempt',
  'lease',
  'gate',
  'session',
  'outbox',
  'timer',
  'effect',
];

export async function judgeMutants(
  killers: Killers,
  equivalents: Readonly<Record<string, string>>,
): Promise<MutantReport> {
  // Neighbouring mutants mostly die of the same behaviour: whatever killed last is tried first.
  const queue = [...killers.quick];
  const killedBy: Record<string, number> = {};
  const survivors: string[] = [];
  const wrongProofs = new Set(Object.keys(equivalents));
  let mutants = 0;
  let equivalent = 0;
  for (const key of chartKeys) {
    for (const mutation of mutationsOf(everyChart[key].table)) {
      mutants += 1;
      const id = `${key}: ${mutation.id}`;
      const suite = await killingSuite(withMutation(key, mutation), key, queue, killers.thorough);
      if (suite !== null) killedBy[suite] = (killedBy[suite] ?? 0) + 1;
      else if (equivalents[id] === undefined) survivors.push(id);
      else {
        equivalent += 1;
        wrongProofs.delete(id);
      }
    }
  }
  const killed = mutants - equivalent - survivors.length;
  const score = Math.floor((10_000 * killed) / (mutants - equivalent)) / 100;
  return { mutants, killed, equivalent, survivors, wrongProofs: [...wrongProofs], score, killedBy };
}

function withMutation(key: ChartKey, mutation: Mutation): EveryChart {
  switch (key) {
    case 'run':
      return { ...everyChart, run: mutated(everyChart.run, mutation) };
    case 'job':
      return { ...everyChart, job: mutated(everyChart.job, mutation) };
    case 'attempt':
      return { ...everyChart, attempt: mutated(everyChart.attempt, mutation) };
    case 'lease':
      return { ...everyChart, lease: mutated(everyChart.lease, mutation) };
    case 'gate':
      return { ...everyChart, gate: mutated(everyChart.gate, mutation) };
    default:
      return { ...everyChart, [key]: mutated(everyChart[key], mutation) };
  }
}

/** The suite that goes red, or null. Whole scenarios and histories come last: they are the slowest to notice. */
async function killingSuite(
  wrong: EveryChart,
  key: ChartKey,
  queue: Killer[],
  thorough: readonly Killer[],
): Promise<string | null> {
  const inCore = core.has(key);
  for (const [at, killer] of inCore ? queue.entries() : []) {
    if (!(await isRed(() => killer.run(wrong)))) continue;
    queue.splice(at, 1);
    queue.unshift(killer);
    return killer.suite;
  }
  for (const { chart, run } of stepBehaviours) if (chart === key && (await isRed(() => run(wrong)))) return 'step';
  for (const { suite, run } of inCore ? thorough : []) if (await isRed(() => run(wrong))) return suite;
  return null;
}

async function isRed(run: () => void | Promise<void>): Promise<boolean> {
  try {
    await run();
    return false;
  } catch {
    return true;
  }
}
