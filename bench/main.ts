/**
 * npm run bench -- [--json] [--size small|full]
 *
 * Prints one line per measurement and, last, one JSON object. Exit code 1 when a ratio falls short, 3 for bad usage.
 * Ratios decide, absolute figures only inform: machines differ and are noisy.
 */
import { parseArgs } from 'node:util';
import { growth, measureCurve } from './curve.ts';
import { benchDecide } from './decide.ts';
import { measureStartup } from './startup.ts';
import { benchTable } from './table.ts';

/** A compiled table must be at least this many times as fast as XState's own transition(). */
const tableRatioMin = 50;
/** Cost per job from the smallest to the largest run may grow by caches and garbage collection, not by more. */
const growthMax = 3;
const concurrency = 64;
const startupRounds = 7;

function usage(message: string): never {
  process.stderr.write(`bench: ${message}\nusage: npm run bench -- [--json] [--size small|full]\n`);
  process.exit(3);
}

function parse(): { readonly json: boolean; readonly sizes: readonly number[] } {
  let values: { json?: boolean; size?: string };
  try {
    ({ values } = parseArgs({ options: { json: { type: 'boolean' }, size: { type: 'string' } } }));
  } catch (error) {
    usage(error instanceof Error ? error.message : String(error));
  }
  const size = values.size ?? 'full';
  if (size !== 'small' && size !== 'full') usage(`--size is small or full, not ${size}`);
  return { json: values.json === true, sizes: size === 'small' ? [100, 1_000] : [1_000, 10_000, 100_000] };
}

const { json, sizes } = parse();
const say = (line: string): void => {
  if (!json) process.stdout.write(`${line}\n`);
};

const table = benchTable();
say(`table: ${Math.round(table.ratio)}x XState transition() (${Math.round(table.tableNsPerStep)} ns a step)`);
const decided = benchDecide();
say(`decide: ${Math.round(decided.decidesPerSecond)} decisions a second`);
// The first run of a process pays for compiling; it is not measured.
await measureCurve('memory', [200], concurrency);
const memory = await measureCurve('memory', sizes, concurrency);
const sqlite = await measureCurve('sqlite', sizes, concurrency);
for (const [kind, results] of Object.entries({ memory, sqlite })) {
  for (const one of results) {
    say(
      `${kind}: ${one.jobs} jobs created in ${one.createMs} ms, completed in ${one.completeMs} ms (${one.jobsPerSecond} jobs/s, ${one.heapBytesPerJob} heap bytes a job)`,
    );
  }
}
const startup = measureStartup(startupRounds);
say(
  `start-up: --version ${startup.versionMs} ms, run list ${startup.runListMs} ms (bare node ${startup.bareNodeMs} ms)`,
);

const figures = {
  table,
  decide: decided,
  lifecycle: { memory, sqlite },
  growth: { memory: growth(memory), sqlite: growth(sqlite), max: growthMax },
  startup,
};
const short = [
  ...(table.ratio >= tableRatioMin ? [] : [`table.ratio ${table.ratio} < ${tableRatioMin}`]),
  ...(figures.growth.memory <= growthMax ? [] : [`growth on memory ${figures.growth.memory} > ${growthMax}`]),
  ...(figures.growth.sqlite <= growthMax ? [] : [`growth on sqlite ${figures.growth.sqlite} > ${growthMax}`]),
];
process.stdout.write(`${JSON.stringify({ ...figures, short })}\n`);
process.exitCode = short.length === 0 ? 0 : 1;
