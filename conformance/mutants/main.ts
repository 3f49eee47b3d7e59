/** `npm run mutants`: every small wrong chart must turn a suite red. Exit code 1 when one does not. */
import { behaviours } from '../directed/index.ts';
import { equivalents } from './equivalents.ts';
import type { Killer } from './judge.ts';
import { judgeMutants } from './judge.ts';

const killers: readonly Killer[] = behaviours.map(({ name, run }) => ({ suite: 'directed', name, run }));

const report = judgeMutants(killers, equivalents);
for (const id of report.survivors) console.log(`survived: ${id}`);
for (const id of report.wrongProofs) console.log(`not equivalent after all, or no mutant: ${id}`);
console.log(JSON.stringify(report));
process.exitCode = report.survivors.length > 0 || report.wrongProofs.length > 0 || report.score < 100 ? 1 : 0;
