/** Starts a script as a process of its own and reads what it prints, line by line. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Child extends AsyncDisposable {
  readonly process: ChildProcess;
  /** The next line of its output; null when it has ended. */
  nextLine(): Promise<string | null>;
  /** One line of input: a signal to go on. */
  signal(): void;
  /** Ends its input, which is how these scripts are told to finish, and waits for its end. */
  finish(): Promise<number | null>;
}

export function startChild(script: URL, args: readonly string[]): Child {
  const child = spawn(process.execPath, [fileURLToPath(script), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return {
    process: child,
    async nextLine() {
      const line = await lines.next();
      return line.done === true ? null : line.value;
    },
    signal() {
      child.stdin.write('go\n');
    },
    finish() {
      child.stdin.end();
      return ended;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
