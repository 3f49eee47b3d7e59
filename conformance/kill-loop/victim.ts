/** One worker process, killed with SIGKILL at a moment drawn beforehand; answers what it had said until then. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Acknowledgement } from './acknowledgements.ts';
import { parseAcknowledgement } from './parse-acknowledgement.ts';

/** After so many acknowledgements, or from the start, and then so many ms later. */
export interface KillMoment {
  readonly afterAcknowledgements: number;
  readonly delayMs: number;
}

export async function runVictim(worker: URL, file: string, moment: KillMoment): Promise<readonly Acknowledgement[]> {
  const child = spawn(process.execPath, [fileURLToPath(worker), file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_COMPILE_CACHE: path.join(path.dirname(file), 'compiled') },
  });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const said: Acknowledgement[] = [];
  let heard = 0;
  const kill = () => setTimeout(() => child.kill('SIGKILL'), moment.delayMs);
  if (moment.afterAcknowledgements === 0) kill();
  createInterface({ input: child.stdout }).on('line', (text) => {
    const acknowledgement = parseAcknowledgement(text);
    if (acknowledgement !== null) said.push(acknowledgement);
    heard += 1;
    if (heard === moment.afterAcknowledgements) kill();
  });
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((resolve) => {
    child.once('close', (exitCode, exitSignal) => resolve({ code: exitCode, signal: exitSignal }));
  });
  if (signal !== 'SIGKILL') throw new Error(`the worker ended by itself (${code ?? signal}): ${complaints}`);
  return said;
}
