/** Start-up time of the command line, as whole processes; the median of several runs. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const program = join(import.meta.dirname, '..', 'dist', 'daemon', 'cli', 'main.js');

export interface StartupResult {
  readonly versionMs: number;
  readonly runListMs: number;
  /** A node process that does nothing: what no program can undercut. */
  readonly bareNodeMs: number;
}

export function measureStartup(rounds: number): StartupResult {
  const directory = mkdtempSync(join(tmpdir(), 'forgeyard-startup-'));
  try {
    const store = join(directory, 'forgeyard.db');
    const plan = join(directory, 'plan.yaml');
    spawnSync(process.execPath, [
      '-e',
      `require('fs').writeFileSync(${JSON.stringify(plan)}, 'project: p\\nname: n\\njobs:\\n  a:\\n    steps: ["true"]\\n')`,
    ]);
    const started = spawnSync(process.execPath, [program, '--store', store, 'run', 'start', plan], {
      cwd: directory,
      encoding: 'utf8',
    });
    if (started.status !== 0) throw new Error(`bench: the program did not run a plan: ${started.stderr}`);
    return {
      versionMs: median(rounds, [program, '--version'], directory),
      runListMs: median(rounds, [program, '--store', store, 'run', 'list'], directory),
      bareNodeMs: median(rounds, ['-e', '0'], directory),
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function median(rounds: number, args: readonly string[], cwd: string): number {
  const times = Array.from({ length: rounds }, () => {
    const startedAt = performance.now();
    const { status, stderr } = spawnSync(process.execPath, [...args], { cwd, encoding: 'utf8' });
    if (status !== 0) throw new Error(`bench: ${args.join(' ')} exited ${status}: ${stderr}`);
    return performance.now() - startedAt;
  }).sort((a, b) => a - b);
  return Math.round(times[Math.floor(rounds / 2)] ?? 0);
}
