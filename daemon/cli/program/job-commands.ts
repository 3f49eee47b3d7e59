import { Argument, Command, Option } from 'commander';
import type { JobState } from '../../../machines/index.ts';
import { integerBetween, note } from '../arguments.ts';
import type { Act } from './act.ts';

const jobArgument = () =>
  new Argument('<job>', 'RUN/NAME, e.g. @last/build; or the id of a job, or the beginning of one');
const jobStates: readonly JobState[] = [
  'Pending',
  'RetryWaiting',
  'Eligible',
  'Leased',
  'Preparing',
  'Running',
  'UploadingOutputs',
  'Lost',
  'Succeeded',
  'Failed',
  'Cancelled',
  'TimedOut',
  'Skipped',
];

export function jobCommand(act: Act): Command {
  const job = new Command('job').description('Look at the jobs of a run, and act on one');
  job
    .command('list')
    .description('List the jobs of a run')
    .addArgument(new Argument('<run>', 'id of a run, the beginning of one, or @last'))
    .addOption(new Option('--state <state...>', 'in one of these states only').choices(jobStates))
    .action((run: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/job.ts')).jobList(terminal, run, options)),
    );
  job
    .command('show')
    .description('Show one job: state, lease, runner, attempts, failure, outputs')
    .addArgument(jobArgument())
    .action((id: string, _options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/job.ts')).jobShow(terminal, id)),
    );
  job
    .command('attempts')
    .description('Show the attempts of a job as a timeline')
    .addArgument(jobArgument())
    .action((id: string, _options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/job.ts')).jobAttempts(terminal, id)),
    );
  job
    .command('logs')
    .description('Show the log of an attempt of a job')
    .addArgument(jobArgument())
    .option('--attempt <number>', 'which attempt (default: the newest)', integerBetween(1, 1_000_000))
    .option('-f, --follow', 'go on until the attempt has ended')
    .action((id: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/job-logs.ts')).jobLogs(terminal, id, options)),
    );
  job
    .command('cancel')
    .description('Ask a job to end')
    .addArgument(jobArgument())
    .option('-m, --message <text>', 'why; recorded', note)
    .action((id: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/decide.ts')).jobCancel(terminal, id, options)),
    );
  job
    .command('skip')
    .description('Skip a job that has not begun; what needs it goes on')
    .addArgument(jobArgument())
    .option('-m, --message <text>', 'why; recorded', note)
    .action((id: string, options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/decide.ts')).jobSkip(terminal, id, options)),
    );
  job
    .command('explain')
    .description('Say why a job is where it is, and what would make it go on')
    .addArgument(jobArgument())
    .action((id: string, _options, command: Command) =>
      act(command, async (terminal) => (await import('../commands/explain.ts')).jobExplain(terminal, id)),
    );
  return job;
}
