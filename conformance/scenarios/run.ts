/** Runs a scenario and writes it again, with the trace that came of it. Equal to the file: it holds. */
import type { Command } from '../../machines/index.ts';
import { aggregateOf, reconcileRun } from '../../machines/index.ts';
import { leaseOf, sessionOf } from '../core/index.ts';
import type { EngineRows, ScenarioEngine } from './engine.ts';
import type { Block } from './read.ts';
import { readScenario } from './read.ts';
import { milliseconds, saying } from './say.ts';
import { answerLines, stateLines } from './words.ts';

/** The file as this engine writes it. */
export async function renderScenario(text: string, engine: ScenarioEngine): Promise<string> {
  const { header, plan, blocks } = readScenario(text);
  const parts = [header];
  const hold = { followUps: false };
  for (const block of blocks) {
    const lines = await runBlock(engine, plan, block, hold);
    const problems = await engine.problems();
    const broken = problems.map((problem) => `BROKEN ${problem}`);
    parts.push([...block.comments, `> ${block.words.join(' ')}`, ...lines, ...broken].join('\n'));
  }
  return `${parts.join('\n\n')}\n`;
}

type Plan = ReturnType<typeof readScenario>['plan'];

async function runBlock(
  engine: ScenarioEngine,
  plan: Plan,
  { words }: Block,
  hold: { followUps: boolean },
): Promise<readonly string[]> {
  const [verb = '', first = '', second = ''] = words;
  switch (verb) {
    case 'create': {
      const answer = await engine.create(plan);
      const lines = answerLines(await engine.rows(), answer, engine.now);
      return [...lines, ...(await followUps(engine, hold))];
    }
    case 'show':
      return stateLines(await engine.rows());
    case 'wait':
      await engine.advance(milliseconds(first));
      return [];
    case 'renew':
      return renew(engine, first);
    case 'drain':
    case 'undrain':
      await engine.setActive(sessionOf(first), verb === 'undrain');
      return [];
    case 'hold':
      hold.followUps = true;
      return [];
    case 'restart':
      await engine.restart();
      hold.followUps = false;
      return [];
    case 'reconcile':
      return reconcile(engine, plan, second === 'session' ? words.slice(3) : []);
    default: {
      const said = saying(engine, await engine.rows(), words);
      const answer = await engine.submit(said.command, said.actor);
      const lines = answerLines(await engine.rows(), answer, engine.now);
      return [...lines, ...(await followUps(engine, hold))];
    }
  }
}

async function renew(engine: ScenarioEngine, of: string): Promise<readonly string[]> {
  const [node = '', number] = of.split('#');
  const lease = leaseOf(await engine.rows(), node, number === undefined ? undefined : Number(number));
  if (!(await engine.renew(lease.id))) return ['not renewed'];
  const renewed = leaseOf(await engine.rows(), node, lease.epoch);
  return [`renewed, lease ends in ${(renewed.expiresAt - engine.now) / 1_000}s`];
}

/** What commits left to do is done at once, unless the scenario holds it back to lose it. */
async function followUps(engine: ScenarioEngine, hold: { readonly followUps: boolean }): Promise<readonly string[]> {
  if (hold.followUps) return [];
  const lines: string[] = [];
  for (let next = await engine.nextFollowUp(); next !== null; next = await engine.nextFollowUp()) {
    const answer = await engine.submit(next, 'system:control');
    const rows = await engine.rows();
    lines.push(`then ${commandText(rows, next)}`, ...answerLines(rows, answer, engine.now));
  }
  return lines;
}

/** Looks for issues, repairs them, and looks again: the second pass must find nothing. */
async function reconcile(engine: ScenarioEngine, plan: Plan, inactive: readonly string[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const pass of [1, 2, 3, 4]) {
    const rows = await engine.rows();
    const state = aggregateOf({
      run: rows.run,
      plan,
      nodes: rows.nodes,
      attempts: [...rows.attempts.values()],
      leases: [...rows.leases.values()],
    });
    const isSessionActive = (session: string) => !inactive.includes(session);
    const issues = reconcileRun(state, { now: engine.now, isSessionActive });
    lines.push(`pass ${pass}: ${issues.length === 0 ? 'nothing' : `${issues.length} found`}`);
    if (issues.length === 0) return lines;
    for (const { code, detail, repair } of issues) {
      lines.push(`${code}: ${detail}`);
      if (repair === null) continue;
      const answer = await engine.submit(repair, 'system:reconciler');
      lines.push(...answerLines(await engine.rows(), answer, engine.now));
    }
  }
  return [...lines, 'no fixed point'];
}

function commandText(rows: EngineRows, command: Command): string {
  if (command.type === 'JudgeNodes') {
    return `JudgeNodes ${command.nodes.map((at) => rows.nodes[at]?.node ?? at).join(' ')}`;
  }
  const job = 'job' in command ? rows.nodes.find(({ id }) => id === command.job) : undefined;
  return [command.type, job?.node].filter(Boolean).join(' ');
}
