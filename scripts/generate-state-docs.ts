/**
 * Writes docs/state-machines.md from the charts and their explanations.
 * With `--check` it writes nothing and exits 1 when the page differs.
 */
import path from 'node:path';
import { writeOrCheck } from './lib/write-or-check.ts';
import { renderStateDocs } from './state-docs/render.ts';

const files = [{ path: path.join('docs', 'state-machines.md'), text: renderStateDocs() }];

process.exitCode = await writeOrCheck('generate-state-docs', files, process.argv.includes('--check'));
