/**
 * Starts one process as the leader of a group of its own (000 §94-95), from an argv, never from a shell
 * string. Its output is handed on chunk by chunk; a slow reader slows the process, memory does not grow.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { ProcessExitReport } from '../protocol/index.ts';

export interface LaunchOptions {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Called for each chunk, and with null at the end of the stream. */
  readonly output: (stream: 'stdout' | 'stderr', chunk: Uint8Array | null) => Promise<void>;
}

export interface LaunchedProcess {
  /** Pid of the leader and id of the group. */
  readonly group: number;
  readonly exited: Promise<ProcessExitReport>;
  /** Both streams have ended: nobody holds them open any more. */
  readonly drained: Promise<void>;
  /** Stops reading; for streams that a process outside the group keeps open. */
  abandonOutput(): void;
}

export type Launched =
  | { readonly kind: 'launched'; readonly process: LaunchedProcess }
  /** `code` is the system's error code, e.g. ENOENT for a missing program. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string };

export async function launch(options: LaunchOptions): Promise<Launched> {
  const [file, ...args] = options.argv;
  if (file === undefined) return { kind: 'failed', code: 'EINVAL', message: 'the argv is empty' };
  let child: ChildProcess;
  try {
    child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...options.env },
      detached: true,
      shell: false,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  } catch (cause) {
    return failure(cause);
  }
  const exited = new Promise<ProcessExitReport>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  try {
    await new Promise<void>((resolve, reject) => child.once('spawn', resolve).once('error', reject));
  } catch (cause) {
    return failure(cause);
  }
  // An error after the start (a failed kill) says nothing about the process; its exit will.
  child.on('error', () => undefined);
  const { pid, stdout, stderr } = child;
  if (pid === undefined || stdout === null || stderr === null) throw new Error('a started process has no pid or pipes');
  const drained = Promise.all([pump(stdout, 'stdout', options), pump(stderr, 'stderr', options)]).then(() => undefined);
  return {
    kind: 'launched',
    process: {
      group: pid,
      exited,
      drained,
      abandonOutput() {
        stdout.destroy();
        stderr.destroy();
      },
    },
  };
}

async function pump(stream: Readable, name: 'stdout' | 'stderr', options: LaunchOptions): Promise<void> {
  try {
    for await (const chunk of stream) await options.output(name, chunk);
  } catch {
    // A destroyed or broken pipe ends like any other: what came before is kept.
  }
  await options.output(name, null);
}

function failure(cause: unknown): Launched {
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'UNKNOWN';
  return { kind: 'failed', code, message: cause instanceof Error ? cause.message : String(cause) };
}
