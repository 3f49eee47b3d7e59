import { Argument, Command } from 'commander';
import { note } from '../arguments.ts';
import type { Act } from './act.ts';

const gateArgument = () =>
  new Argument('<gate>', 'RUN/NAME, e.g. @last/release; or the id of a gate, or the beginning of one');

export function gateCommand(act: Act): Command {
  const gate = new Command('gate').description('Look at gates, and decide them');
  gate
    .command('list')
    .description('List the gates of a run, or all that wait for a decision')
    .addArgument(new Argument('[run]', 'id of a run, the beginning of one, or @last'))
    .action((run: string | undefined, _options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/gate-list.ts')).gateList(terminal, run)),
    );
  for (const verdict of ['approve', 'reject'] as const) {
    gate
      .command(verdict)
      .description(verdict === 'approve' ? 'Let what waits for a gate go on' : 'Refuse what waits for a gate')
      .addArgument(gateArgument())
      .option('-m, --message <text>', 'why; recorded', note)
      .action((id: string, options, command: Command) =>
        act(command, async (terminal) =>
          (await import('../commands/decide.ts')).gateDecide(terminal, id, { ...options, verdict }),
        ),
      );
  }
  return gate;
}
