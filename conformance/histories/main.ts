/**
 * `npm run histories`: random plans, hostile histories. Exit code 1 when one breaks something, or when the search
 * no longer reaches what it should; 3 when the arguments make no sense. The last line is one JSON object.
 */
import { parseArguments, usage } from './arguments.ts';
import { searchHistories } from './search.ts';
import { expectedSometimes } from './tally.ts';

/** Fewer histories than this may well miss something rare. */
const reachesAll = 5_000;

const parsed = parseArguments(process.argv.slice(2));
if (typeof parsed === 'string') {
  console.error(`${parsed}\n${usage}`);
  process.exitCode = 3;
} else {
  const seed = parsed.seed ?? Date.now() % 0x7fff_ffff;
  const { path } = parsed;
  const result = searchHistories({ runs: parsed.runs, seed, ...(path === null ? {} : { path }) });
  const { failure, tally } = result;
  if (failure !== null) {
    for (const violation of failure.violations) console.log(`violation: ${violation}`);
    console.log(`history: ${failure.history}`);
    console.log(`replay: npm run histories -- --runs ${parsed.runs} --seed=${seed} --path ${failure.path}`);
  }
  const judged = failure === null && path === null && parsed.runs >= reachesAll;
  const never = judged ? expectedSometimes.filter((name) => tally.counts[name] === 0) : [];
  for (const name of never) console.log(`never reached: ${name}`);
  console.log(
    JSON.stringify({
      runs: result.runs,
      commands: tally.commands,
      violations: failure?.violations.length ?? 0,
      seed,
      facts: tally.factCount,
      sometimes: tally.counts,
    }),
  );
  process.exitCode = failure !== null || never.length > 0 ? 1 : 0;
}
