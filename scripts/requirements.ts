/**
 * `npm run requirements [-- --ran REPORT.json…]`: is every numbered requirement tested or accounted for?
 * With `--ran`, a number counts only when a test that carries it in its name passed in those vitest reports.
 */
import { parseArgs } from 'node:util';
import { reportFindings } from './lib/finding.ts';
import { judgePassed, judgeRequirements, passedTags, readRequirements, taggedFiles } from './requirements-check.ts';

const { values } = parseArgs({ options: { ran: { type: 'string', multiple: true } } });
const requirements = await readRequirements('.');
const count = (status: string): number => requirements.filter((each) => each.status === status).length;
const summary = ['tested', 'issue', 'later', 'neighbour'].map((status) => `${count(status)} ${status}`).join(', ');
const findings =
  values.ran === undefined
    ? judgeRequirements(requirements, await taggedFiles('.'))
    : judgePassed(requirements, await passedTags(values.ran));
process.exitCode = reportFindings('requirements', findings, `${requirements.length} numbers (${summary})`);
