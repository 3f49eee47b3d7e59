/** `npm run docs:check`: links, commands and named proofs in the documents. */
import { docsFindings } from './docs-check/check.ts';
import { reportFindings } from './lib/finding.ts';

process.exitCode = reportFindings('docs', await docsFindings('.'), 'links, commands, proofs');
