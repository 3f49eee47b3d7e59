/**
 * The form of a scenario file: a title and reason as comments, the plan as it would be written, then commands with
 * what must come of them. `>` begins a command; the lines below it are the trace, and are written by the runner.
 */
import { parse } from 'yaml';
import { z } from 'zod';
import type { ExecutablePlan } from '../../machines/index.ts';
import { gate, job } from '../../machines/plan/index.ts';
import { planFor } from '../core/index.ts';

export interface Block {
  /** Comment lines before the command, kept as they are. */
  readonly comments: readonly string[];
  readonly words: readonly string[];
}

export interface Scenario {
  /** Everything above the first command, kept as it is. */
  readonly header: string;
  readonly plan: ExecutablePlan;
  readonly blocks: readonly Block[];
}

/** Only the outline; the plan's own rules are checked where plans are compiled. */
const outline = z.strictObject({
  plan: z.looseObject({
    jobs: z.record(z.string(), z.record(z.string(), z.unknown()).nullable()),
    gates: z.record(z.string(), z.record(z.string(), z.unknown()).nullable()).default({}),
  }),
});

export function readScenario(text: string): Scenario {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith('>'));
  if (first < 0) throw new Error('a scenario has at least one command');
  // Comments right above the first command belong to it.
  const begin = first - [...lines.slice(0, first)].reverse().findIndex((line) => !line.startsWith('#'));
  const header = lines.slice(0, begin).join('\n').trimEnd();
  return { header, plan: planOfHeader(header), blocks: blocksOf(lines.slice(begin)) };
}

function planOfHeader(header: string): ExecutablePlan {
  const { plan } = outline.parse(parse(header));
  const { jobs, gates, ...run } = plan;
  return planFor(
    [
      ...Object.entries(jobs).map(([name, written]) => job(name, written ?? {})),
      ...Object.entries(gates).map(([name, written]) => gate(name, written ?? {})),
    ],
    run,
  );
}

function blocksOf(lines: readonly string[]): readonly Block[] {
  const blocks: Block[] = [];
  let comments: string[] = [];
  for (const line of lines) {
    if (line.startsWith('#')) comments.push(line);
    if (!line.startsWith('>')) continue;
    blocks.push({ comments, words: line.slice(1).trim().split(/\s+/) });
    comments = [];
  }
  return blocks;
}
