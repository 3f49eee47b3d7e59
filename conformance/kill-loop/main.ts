/** `npm run kill-loop -- --kills N --seed S`. Exit code 1 when something was lost, done twice or damaged; 3 for bad input. */
import { fallsShort, runKillLoop } from './kill-loop.ts';
import { parseOptions } from './options.ts';

const options = parseOptions(process.argv.slice(2), Date.now() % 1_000_000);
if (options.kind === 'wrong') {
  console.error(options.message);
  process.exitCode = 3;
} else {
  const { kills, seed } = options;
  const tally = await runKillLoop({ kills, seed, report: (problem) => console.error(problem) });
  console.log(JSON.stringify(tally));
  process.exitCode = fallsShort(tally, kills) ? 1 : 0;
}
