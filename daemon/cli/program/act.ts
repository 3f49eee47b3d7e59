import type { Command } from 'commander';
import type { ExitCode } from '../exit-codes.ts';
import type { Terminal } from '../terminal.ts';

/** How an action gets its terminal, and hands its exit code back. */
export type Act = (command: Command, work: (terminal: Terminal) => Promise<ExitCode>) => Promise<void>;
