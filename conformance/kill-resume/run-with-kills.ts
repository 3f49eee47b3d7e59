/**
 * Runs a plan by the program itself and kills the whole process (SIGKILL) at moments drawn from a seed: some facts
 * after it began to carry the run, and a moment later, so that it may be anywhere, also inside a commit.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface Project {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Kill {
  readonly afterFacts: number;
  readonly andMs: number;
}

const program = join(import.meta.dirname, '..', '..', 'daemon', 'cli', 'main.ts');
/** The infrastructure budget is three: with more kills a job could rightly fail. */
const killsMax = 2;
const factsMax = 24;
const momentMaxMs = 40;

export function drawKills(random: () => number): readonly Kill[] {
  const count = 1 + Math.floor(random() * killsMax);
  return Array.from({ length: count }, () => ({
    afterFacts: 1 + Math.floor(random() * factsMax),
    andMs: Math.floor(random() * momentMaxMs),
  }));
}

export interface KilledRun extends Ended {
  readonly id: string;
  /** Kills that met a living process. */
  readonly kills: number;
}

export async function runWithKills(project: Project, plan: string, kills: readonly Kill[]): Promise<KilledRun> {
  const created = await forgeyard(project, ['run', 'start', plan, '--detach', '-q']);
  const id = created.stdout.trim();
  if (created.code !== 0) throw new Error(`not created: ${created.stderr}`);
  let hit = 0;
  for (const kill of kills) {
    if ((await forgeyard(project, resume(id), kill)).code === null) hit += 1;
  }
  return { ...(await forgeyard(project, resume(id))), id, kills: hit };
}

const resume = (id: string): readonly string[] => ['run', 'watch', id, '--resume', '--slots', '3', '-o', 'jsonl'];

/** `code` is null when the kill ended it. Facts that were there before count too: a resumed run is killed early. */
export function forgeyard({ cwd, env }: Project, words: readonly string[], kill?: Kill): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...words], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const out: string[] = [];
  let stderr = '';
  let before = 0;
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    out.push(line);
    before += 1;
    if (kill !== undefined && before === kill.afterFacts) setTimeout(() => child.kill('SIGKILL'), kill.andMs);
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout: out.join('\n'), stderr }));
  });
}
