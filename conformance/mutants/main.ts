/** `npm run mutants`: every small wrong chart must turn a suite red. Exit code 1 when one does not. */
import { equivalents } from './equivalents.ts';
import { judgeMutants } from './judge.ts';
import { killers } from './killers.ts';

if (process.argv.length > 2) {
  console.error('usage: npm run mutants');
  process.exitCode = 3;
} else {
  const report = await judgeMutants(killers, equivalents);
  for (const id of report.survivors) console.log(`survived: ${id}`);
  for (const id of report.wrongProofs) console.log(`not equivalent after all, or no mutant: ${id}`);
  console.log(JSON.stringify(report));
  process.exitCode = report.wrongProofs.length > 0 || report.score < 100 ? 1 : 0;
}
