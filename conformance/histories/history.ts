/** One history: a plan, drawn steps against it, then the run is brought to its end and judged. */
import type { Charts, ExecutablePlan } from '../../machines/index.ts';
import { isRunTerminal, timerCommand } from '../../machines/index.ts';
import type { World } from '../core/index.ts';
import { createWorld, decideGate, runnerMessage, sameValue, wholeFoldDifferences } from '../core/index.ts';
import type { Issued } from './commands.ts';
import { commandFor, nextFor, openGates, passTime } from './commands.ts';
import type { Draw } from './draws.ts';
import { wrongEnd } from './oracle.ts';
import { before, stepViolations, wrongAttempts } from './step-checks.ts';
import type { Tally } from './tally.ts';

export interface HistoryOptions {
  readonly charts?: Charts;
  /** Decides everything twice on frozen rows: slower, so only some histories do it. */
  readonly strict: boolean;
  readonly tally: Tally;
}

/** More steps than bringing eight nodes with all their retries to an end can take. */
const drainMax = 600;

/** What did not hold; empty for a correct core. */
export function historyViolations(
  plan: ExecutablePlan,
  draws: readonly Draw[],
  options: HistoryOptions,
): readonly string[] {
  const draw = { at: 0 };
  // Jitter that a history repeats, and a decision asked twice in one step gets twice.
  const random = () => ((draw.at * 7_919) % 101) / 101;
  const world = createWorld(plan, {
    frozen: options.strict,
    random,
    limits: { refusalsMax: 3, inlineDependentsMax: 2 },
    ...(options.charts === undefined ? {} : { charts: options.charts }),
  });
  options.tally.facts(world.facts);
  const said: Issued[] = [];
  const wrong: string[] = [...world.problems()];
  for (const step of draws) {
    draw.at += 1;
    const issued = commandFor(world, step, said);
    if (issued === null) {
      if (step.kind >= 79) passTime(world, step);
      continue;
    }
    said.push(issued);
    wrong.push(...issue(world, issued, options));
    if (wrong.length > 0) return wrong;
  }
  return [...drain(world, options, draw), ...wrongAttempts(world), ...wholeFoldDifferences(world.shadow, world.state)];
}

function issue(world: World, { command, actor }: Issued, { strict, tally }: HistoryOptions): readonly string[] {
  const old = before(world, command);
  const rehearsed = strict ? world.peek(command, actor) : null;
  const known = world.facts.length;
  const decision = world.submit(command, actor);
  tally.decision(decision);
  tally.facts(world.facts.slice(known));
  const wrong = [...stepViolations(world, old, command, decision), ...world.problems()];
  if (rehearsed !== null && !sameValue(rehearsed, decision))
    wrong.push(`${command.type} was decided differently the second time`);
  return wrong.map((problem) => `${problem} (${command.type})`);
}

/** Everybody behaves from here on: what is due fires, runners finish their work, people decide. */
function drain(world: World, options: HistoryOptions, draw: { at: number }): readonly string[] {
  world.inactive.clear();
  const fired = new Set<string>();
  for (let count = 0; count < drainMax; count += 1) {
    draw.at += 1;
    if (isRunTerminal(world.state.run.state)) {
      const left = world.pending.splice(0);
      const wrong = left.flatMap((command) => issue(world, { command, actor: 'system:control' }, options));
      return [
        ...wrong,
        ...wrongEnd(world.plan, world.state),
        ...(world.timers.size > 0 ? ['timers are left over'] : []),
      ];
    }
    const next = helpful(world, fired);
    if (next === null) return [`the run cannot go on from ${world.state.run.state}`];
    const wrong = issue(world, next, options);
    if (wrong.length > 0) return wrong;
  }
  return ['the run does not end'];
}

/** `fired` holds deadlines that have fired: rows may go on asking for one whose answer is an intent that stands. */
function helpful(world: World, fired: Set<string>): Issued | null {
  const pending = world.pending.shift();
  if (pending !== undefined) return { command: pending, actor: 'system:control' };
  const [gate] = openGates(world);
  if (gate !== undefined) return { command: decideGate(world, gate.node, 'approve'), actor: 'user:eve' };
  for (const row of world.state.nodes) {
    if (row.kind !== 'job') continue;
    const lease = row.currentLease === null ? undefined : world.state.lease(row.currentLease);
    const until = lease?.state === 'Offered' ? lease.offerExpiresAt : (lease?.expiresAt ?? Number.POSITIVE_INFINITY);
    if (until <= world.now) continue;
    if (row.intent !== null && row.currentLease !== null) {
      return { command: runnerMessage(world, 'stopped', row.node), actor: 'runner:x' };
    }
    const next = nextFor(world, row.index, 0);
    if (next !== null) return next;
  }
  const [timer] = [...world.timers.values()]
    .filter(({ key, dueAt }) => !fired.has(`${key} ${dueAt}`))
    .sort((a, b) => a.dueAt - b.dueAt);
  if (timer === undefined) return null;
  fired.add(`${timer.key} ${timer.dueAt}`);
  world.now = Math.max(world.now, timer.dueAt);
  return { command: timerCommand(timer), actor: 'system:timers' };
}
