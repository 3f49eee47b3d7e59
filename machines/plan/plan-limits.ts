/**
 * Every bound on a plan, with its unit and its reason. A plan at a limit is accepted, one past it is
 * refused with a problem that names the limit; nothing is ever cut off silently.
 */
export interface PlanLimit {
  readonly value: number;
  readonly unit: string;
  readonly reason: string;
}

const day = 24 * 60 * 60 * 1000;

function limit(value: number, unit: string, reason: string): PlanLimit {
  return { value, unit, reason };
}

export const planLimits = {
  fileBytesMax: limit(
    4 * 1024 * 1024,
    'bytes',
    'A larger file is generated; express it as a matrix, or use the library.',
  ),
  tokensMax: limit(1_000_000, 'tokens', 'Each costs far more than its bytes; a file of this many is generated.'),
  nestingMax: limit(64, 'levels', 'The format itself needs fewer than ten; deeper input only aims at the parser.'),
  aliasesMax: limit(1000, 'aliases', 'Aliases share a handful of blocks between jobs; more is a decompression bomb.'),
  valuesMax: limit(2_000_000, 'values', 'What the aliases of a file may expand to, so that a small file stays small.'),
  problemsMax: limit(1000, 'problems', 'Nobody reads more at once, and a report must not outgrow its file.'),
  nodesMax: limit(
    200_000,
    'jobs and gates',
    'Twice the largest graph that is measured; a run is created in one transaction.',
  ),
  edgesMax: limit(2_000_000, 'edges', 'One row each in the transaction that creates the run.'),
  ancestorVisitsMax: limit(
    20_000_000,
    'edges walked',
    'Keeps the search above a node linear in practice for hostile graphs.',
  ),
  needsMax: limit(20_000, 'entries of one needs list', 'A fan-in beyond this is written as the name of a matrix.'),
  entryValuesMax: limit(
    65_000,
    'values in one job or gate',
    'Each may turn out to be a problem, and all are reported together.',
  ),
  stepsMax: limit(100, 'steps of one job', 'A job is leased as a whole; longer ones are split into jobs.'),
  matrixAxesMax: limit(8, 'axes', 'Names of children list every axis and must stay readable.'),
  matrixValuesMax: limit(10_000, 'values of one axis', 'The same as the children of one matrix.'),
  matrixChildrenMax: limit(10_000, 'jobs of one matrix', 'Fail-fast ends all of them in one commit.'),
  matrixExcludesMax: limit(100, 'exclusions', 'Each is compared with every combination.'),
  nameLengthMax: limit(100, 'characters', 'Names stand in tables, paths of logs, and messages.'),
  nodeNameLengthMax: limit(256, 'characters', 'The runner protocol carries names of jobs up to this length.'),
  matrixValueLengthMax: limit(64, 'characters', 'Values are part of the names of the children.'),
  textLengthMax: limit(1024, 'characters', 'Descriptions, messages, paths and labels are read by people.'),
  scriptLengthMax: limit(65_536, 'characters', 'A longer script belongs into a file of the repository.'),
  argvMax: limit(256, 'arguments', 'Well below what any system accepts for one process.'),
  environmentMax: limit(200, 'variables', 'Well below what any system accepts for one process.'),
  environmentValueLengthMax: limit(8192, 'characters', 'Larger values belong into files.'),
  secretsMax: limit(64, 'secrets of one job', 'Each is looked up for every character of the log.'),
  capabilitiesMax: limit(64, 'capabilities', 'The runner protocol announces at most as many.'),
  capabilityLengthMax: limit(128, 'characters', 'The runner protocol carries capabilities up to this length.'),
  globsMax: limit(100, 'globs', 'Each is matched against every file of the workspace.'),
  labelsMax: limit(64, 'labels', 'Labels select runs in lists; they are no store of data.'),
  approversMax: limit(100, 'approvers', 'A larger circle is a permission, not a list.'),
  jobSpecBytesMax: limit(128 * 1024, 'bytes', 'An offer carries the spec and must fit a message of 256 KiB.'),
  durationMinMs: limit(1, 'milliseconds', 'A deadline of nothing ends before it begins.'),
  durationMaxMs: limit(30 * day, 'milliseconds', 'Thirty days: a longer wait is a typing error.'),
  attemptsMax: limit(100, 'attempts', 'All attempts of a job are kept and shown.'),
  infrastructureRetriesMax: limit(100, 'retries', 'All attempts of a job are kept and shown.'),
  backoffFactorMax: limit(100, 'times', 'The delay is bounded by its maximum anyway; more is a typing error.'),
  priorityMax: limit(1_000_000, 'either way from zero', 'Fits every integer column, with room to rank.'),
} as const satisfies Readonly<Record<string, PlanLimit>>;
