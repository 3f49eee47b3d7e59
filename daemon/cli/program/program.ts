/** All commands, their options and their help. What a command does is loaded when it is called. */
import { Command, CommanderError, Option } from 'commander';
import { exitCodeHelp, exitCodes } from '../exit-codes.ts';
import type { GlobalOptions } from '../terminal.ts';
import { createTerminal, outputFormats } from '../terminal.ts';
import type { Act } from './act.ts';
import { gateCommand } from './gate-commands.ts';
import { jobCommand } from './job-commands.ts';
import { otherCommands } from './other-commands.ts';
import { runCommand } from './run-commands.ts';

export async function perform(process: NodeJS.Process, words: readonly string[], version: string): Promise<number> {
  let exitCode: number = exitCodes.ok;
  const act: Act = async (command, work) => {
    exitCode = await work(createTerminal(process, command.optsWithGlobals<GlobalOptions>()));
  };
  try {
    await createProgram(act, version).parseAsync([...words], { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Help that was asked for is no error; help shown because nothing was asked is.
    return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
}

export function createProgram(act: Act, version: string): Command {
  const program = new Command('forgeyard')
    .description('Runs CI pipelines whose state survives crashes, restarts and lost runners.')
    .version(version, '-V, --version', 'show the version')
    .addOption(
      new Option('--store <store>', 'memory:, sqlite:PATH or a path (default: .forgeyard/forgeyard.db of the project)'),
    )
    .addOption(
      new Option('-o, --output <format>', 'format of the data on stdout').choices(outputFormats).default('table'),
    )
    .option('--no-color', 'no colours (also: NO_COLOR)')
    .option('-q, --quiet', 'no progress on stderr')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help of a command')
    .addHelpText('afterAll', exitCodeHelp)
    .configureHelp({ showGlobalOptions: true })
    .showSuggestionAfterError(true);
  for (const command of [runCommand(act), jobCommand(act), gateCommand(act), ...otherCommands(act, () => program)])
    program.addCommand(command);
  settle(program);
  return program;
}

/** Subcommands made on their own do not inherit: they get the same behaviour here. */
function settle(command: Command): void {
  command.exitOverride();
  command.configureOutput({
    outputError: (text, write) => write(`${text.trimEnd()}\n  try: forgeyard ${pathOf(command)}--help\n`),
  });
  for (const child of command.commands) {
    child.copyInheritedSettings(command).helpOption('-h, --help', 'show help');
    settle(child);
  }
}

function pathOf(command: Command): string {
  const names: string[] = [];
  for (let at: Command | null = command; at?.parent; at = at.parent) names.unshift(at.name());
  return names.length === 0 ? '' : `${names.join(' ')} `;
}
