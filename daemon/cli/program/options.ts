/** Options that several commands share. */
import type { Command } from 'commander';
import { capability, integerBetween, secretCommand } from '../arguments.ts';

export function withHostOptions(command: Command): Command {
  return command
    .option('--slots <number>', 'jobs at once (default: number of processors)', integerBetween(1, 1_024))
    .option('--capability <name>', 'a capability the runner offers beside its platform; repeatable', capability)
    .option('--secret-command <name=program>', 'what a secret "command:NAME" runs; repeatable', secretCommand)
    .option('--keep-workspaces', 'keep the workspaces of attempts that did not succeed');
}
