import { Argument, Command, Option } from 'commander';
import { duration } from '../arguments.ts';
import type { Act } from './act.ts';

const day = 86_400_000;

export function otherCommands(act: Act, root: () => Command): readonly Command[] {
  return [planCommand(act), storeCommand(act), completionCommand(act, root)];
}

function planCommand(act: Act): Command {
  const plan = new Command('plan').description('Check plan files');
  plan
    .command('check')
    .description('Report everything that is wrong with plan files')
    .argument('<plan...>', 'plan files, YAML or JSON')
    .action((paths: string[], _options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/plan.ts')).planCheck(terminal, paths)),
    );
  plan
    .command('schema')
    .description('Print the JSON Schema of plan files, for editors')
    .action((_options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/plan.ts')).planSchema(terminal)),
    );
  return plan;
}

function storeCommand(act: Act): Command {
  const store = new Command('store').description('Look after the store');
  store
    .command('check')
    .description('Check the integrity of the store and the invariants across its rows')
    .action((_options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/store.ts')).storeCheck(terminal)),
    );
  store
    .command('gc')
    .description('Remove outputs that nothing refers to any more, kept workspaces and old logs')
    .option('--dry-run', 'only say what would be removed')
    .addOption(
      new Option('--older-than <duration>', 'outputs and workspaces of at least this age')
        .argParser(duration)
        .default(day, '1d'),
    )
    .addOption(
      new Option('--logs-older-than <duration>', 'logs of at least this age')
        .argParser(duration)
        .default(30 * day, '30d'),
    )
    .action((options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/store.ts')).storeGc(terminal, options)),
    );
  return store;
}

function completionCommand(act: Act, root: () => Command): Command {
  return new Command('completion')
    .description('Print a completion script, e.g. source <(forgeyard completion bash)')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .action((shell: string, _options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/completion.ts')).completion(terminal, shell, root())),
    );
}
