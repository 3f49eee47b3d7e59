/** Why a command did nothing: what, why, what to do. Thrown inside the CLI, printed once, by `main`. */
import type { ExitCode } from './exit-codes.ts';
import { exitCodes } from './exit-codes.ts';

export interface RefusalDetail {
  /** The reason, where the message alone does not give it. */
  readonly why?: string | undefined;
  /** What the reader can do next; one line each. */
  readonly todo?: string | readonly string[] | undefined;
  readonly exitCode?: ExitCode;
}

export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];

  constructor(message: string, { why, todo = [], exitCode = exitCodes.usage }: RefusalDetail = {}) {
    super(message);
    this.exitCode = exitCode;
    this.lines = [
      `error: ${message}`,
      ...(why === undefined ? [] : [`  why: ${why}`]),
      ...[todo].flat().map((line) => `  try: ${line}`),
    ];
  }
}
