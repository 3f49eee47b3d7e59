import { Argument, Command, Option } from 'commander';
import type { RunState } from '../../../machines/index.ts';
import { integerBetween, label, note, requestId } from '../arguments.ts';
import type { Act } from './act.ts';
import { withHostOptions } from './options.ts';

const runArgument = () => new Argument('<run>', 'id of a run, the beginning of one, or @last');
const priorityMax = 1_000_000;
const eventMax = Number.MAX_SAFE_INTEGER;
/** As in machines; named here so that the help does not load the machines. */
const runStates: readonly RunState[] = [
  'Queued',
  'Running',
  'Cancelling',
  'Succeeded',
  'Failed',
  'Cancelled',
  'TimedOut',
  'Superseded',
];

export function runCommand(act: Act): Command {
  const run = new Command('run').description('Start runs, look at them, and end them');
  withHostOptions(run.command('start'))
    .description('Start a run of a plan and carry it to its end')
    .argument('<plan>', 'a plan file, YAML or JSON')
    .option('--label <key=value>', 'a label, over those of the plan; repeatable', label)
    .option('--priority <number>', 'instead of the priority of the plan', integerBetween(-priorityMax, priorityMax))
    .option('--request-id <id>', 'the same id and plan again give the same run', requestId)
    .option('--detach', 'only create the run; another process carries it')
    .action((plan: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/run-start.ts')).runStart(terminal, plan, options)),
    );
  run
    .command('list')
    .description('List runs, newest first')
    .option('--project <name>', 'of this project only')
    .addOption(new Option('--state <state...>', 'in one of these states only').choices(runStates))
    .option('--label <key=value>', 'with this label only; repeatable', label)
    .option('--limit <number>', 'at most so many', integerBetween(1, 10_000), 20)
    .action((options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/run-list.ts')).runList(terminal, options)),
    );
  run
    .command('show')
    .description('Show one run with its jobs and gates')
    .addArgument(runArgument())
    .action((id: string, _options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/run-list.ts')).runShow(terminal, id)),
    );
  withHostOptions(run.command('watch'))
    .description('Follow a run to its end; the exit code is its result')
    .addArgument(runArgument())
    .option('--resume', 'carry it in this process, if nobody else does')
    .action((id: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/run-watch.ts')).runWatch(terminal, id, options)),
    );
  run
    .command('cancel')
    .description('Ask a run to end')
    .addArgument(runArgument())
    .option('-m, --message <text>', 'why; recorded', note)
    .action((id: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/decide.ts')).runCancel(terminal, id, options)),
    );
  withHostOptions(run.command('retry'))
    .description('Start a new run of the same plan')
    .addArgument(runArgument())
    .option('--detach', 'only create the run; another process carries it')
    .action((id: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/run-retry.ts')).runRetry(terminal, id, options)),
    );
  run
    .command('priority')
    .description('Change the priority of a run; higher goes first')
    .addArgument(runArgument())
    .addArgument(
      new Argument('<priority>', `from -${priorityMax} to ${priorityMax}`).argParser(
        integerBetween(-priorityMax, priorityMax),
      ),
    )
    .action((id: string, priority: number, _options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/decide.ts')).runPriority(terminal, id, priority)),
    );
  addReadings(run, act);
  return run;
}

function addReadings(run: Command, act: Act): void {
  run
    .command('events')
    .description('Show the history of a run: every fact, in order')
    .addArgument(runArgument())
    .option('--after <number>', 'only facts after this one', integerBetween(0, eventMax), 0)
    .option('--limit <number>', 'at most so many', integerBetween(1, eventMax))
    .action((id: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/run-events.ts')).runEvents(terminal, id, options)),
    );
  run
    .command('graph')
    .description('Show the graph of a run with its states')
    .addArgument(runArgument())
    .addOption(new Option('--format <format>', 'how it is drawn').choices(['text', 'mermaid', 'dot']).default('text'))
    .action((id: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/run-graph.ts')).runGraph(terminal, id, options)),
    );
  run
    .command('explain')
    .description('Say why a run is where it is, and what would make it go on')
    .addArgument(runArgument())
    .action((id: string, _options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/explain.ts')).runExplain(terminal, id)),
    );
}
