/** `npm run checks`: the house rules that neither compiler nor linter knows. */
import { lineFindings } from './checks/line-rules.ts';
import { longFileFindings } from './checks/long-files.ts';
import { reportFindings } from './lib/finding.ts';

const findings = [...(await lineFindings('.')), ...(await longFileFindings('.'))];
process.exitCode = reportFindings('checks', findings, 'line rules and file lengths');
