/** `npm run docs:check`: links, commands and named proofs in the documents. */
import { docsFindings, documents } from './docs-check/check.ts';
import { commandFindings } from './docs-check/commands.ts';
import { reportFindings } from './lib/finding.ts';

const findings = [...(await docsFindings('.')), ...(await commandFindings('.', await documents('.')))];
process.exitCode = reportFindings('docs', findings, 'links, commands, proofs');
