/** What a command gets instead of reaching for the process: streams, directory, environment, and the global options. */
import { Writable } from 'node:stream';
import type { Paint } from './output/paint.ts';
import { colorPaint, plainPaint, wantsColor } from './output/paint.ts';
import { windowOf } from './window.ts';

export const outputFormats = ['table', 'json', 'jsonl', 'yaml'] as const;
export type OutputFormat = (typeof outputFormats)[number];

export interface GlobalOptions {
  readonly store?: string;
  readonly output: OutputFormat;
  /** False with `--no-color`. */
  readonly color: boolean;
  readonly quiet?: boolean;
}

export interface Terminal {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly format: OutputFormat;
  readonly store: string | undefined;
  readonly quiet: boolean;
  /** For stdout and for stderr: either may be a terminal without the other. */
  readonly paint: Paint;
  readonly errorPaint: Paint;
  /** Columns of stdout; null where it is no terminal. */
  readonly width: number | null;
  /** Whether progress may be drawn and redrawn on stderr. */
  readonly isLive: boolean;
  readonly errorStream: NodeJS.WriteStream;
  /** Data: a text without its last line end. */
  out(text: string): void;
  /** Bytes as they are; resolves when the reader has room for more. */
  raw(chunk: Uint8Array): Promise<void>;
  /** Diagnostics. */
  note(text: string): void;
  /** Diagnostics that `--quiet` leaves out. */
  progress(text: string): void;
}

export function createTerminal(process: NodeJS.Process, options: GlobalOptions): Terminal {
  const { env, stdout, stderr } = process;
  const painted = (isTty: boolean) => (wantsColor({ isTty, env, refused: !options.color }) ? colorPaint : plainPaint);
  const note = (text: string): void => {
    stderr.write(`${text}\n`);
  };
  const quiet = options.quiet === true;
  return {
    cwd: process.cwd(),
    env,
    format: options.output,
    store: options.store,
    quiet,
    paint: painted(stdout.isTTY === true),
    errorPaint: painted(stderr.isTTY === true),
    width: stdout.isTTY === true ? windowOf(stdout).columns : null,
    isLive: stderr.isTTY === true && env.TERM !== 'dumb' && !quiet,
    errorStream: stderr,
    out(text) {
      stdout.write(`${text}\n`);
    },
    raw: (chunk) =>
      new Promise((resolve) => {
        stdout.write(chunk, () => resolve());
      }),
    note,
    progress(text) {
      if (!quiet) note(text);
    },
  };
}

/** A reader that has gone away (`| head`) is no error; what follows is dropped. */
export function surviveClosedPipes(process: NodeJS.Process): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      stream.write = Writable.prototype.write.bind(nowhere());
    });
  }
}

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() });
