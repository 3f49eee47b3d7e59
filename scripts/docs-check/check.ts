/** Documents that point at nothing are worse than none: links, commands and named proofs must all be there. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Finding } from '../lib/finding.ts';
import { projectFiles } from '../lib/project-files.ts';
import { anchors, links, npmScripts } from './markdown.ts';

const architectureLinesMax = 250;
const required = [
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'docs/ARCHITECTURE.md',
  'docs/GUARANTEES.md',
  'docs/glossary.md',
  'docs/state-machines.md',
];

const manifest = z.object({ scripts: z.record(z.string(), z.string()) });

async function linkFindings(root: string, file: string, text: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { line, target } of links(text)) {
    if (/^[a-z][a-z0-9+.-]*:/i.test(target)) continue;
    const [relative = '', anchor] = target.split('#');
    const destination = relative === '' ? file : path.posix.join(path.posix.dirname(file), decodeURI(relative));
    const absolute = path.join(root, destination);
    if (destination.startsWith('..') || !existsSync(absolute)) {
      findings.push({ file, line, message: `link to ${target}, which does not exist` });
    } else if (anchor !== undefined && destination.endsWith('.md')) {
      const known = anchors(await readFile(absolute, 'utf8'));
      if (!known.has(anchor)) findings.push({ file, line, message: `${destination} has no heading #${anchor}` });
    }
  }
  return findings;
}

/**
 * A proof is `` `path/to/file.test.ts` "name of the test" `` in one line. Every row of a table in docs/GUARANTEES.md
 * names at least one; the file must be there and hold that name.
 */
async function proofFindings(root: string, file: string, text: string): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [index, content] of text.split('\n').entries()) {
    const line = index + 1;
    const proofs = [...content.matchAll(/`([^`\s]+\.ts)`\s+["“]([^"”]+)["”]/g)];
    const isRow =
      content.startsWith('|') && !/^\|[\s:|-]+$/.test(content) && !/^\|[\s:|-]+$/.test(text.split('\n')[line] ?? '');
    if (isRow && proofs.length === 0) findings.push({ file, line, message: 'a promise without a named test' });
    for (const [, proofFile = '', name = ''] of proofs) {
      const absolute = path.join(root, proofFile);
      if (!existsSync(absolute)) findings.push({ file, line, message: `no such test file: ${proofFile}` });
      else if (!(await readFile(absolute, 'utf8')).includes(name)) {
        findings.push({ file, line, message: `${proofFile} has no test named "${name}"` });
      }
    }
  }
  return findings;
}

export async function documents(root: string): Promise<readonly string[]> {
  return projectFiles(root, ['*.md', '{docs,examples,machines,store,conformance,spec}/**/*.md']);
}

export async function docsFindings(root: string): Promise<readonly Finding[]> {
  const findings: Finding[] = required
    .filter((file) => !existsSync(path.join(root, file)))
    .map((file) => ({ file, line: 0, message: 'is missing' }));
  const { scripts } = manifest.parse(JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')));
  for (const file of await documents(root)) {
    const text = await readFile(path.join(root, file), 'utf8');
    findings.push(...(await linkFindings(root, file, text)));
    for (const { line, target } of npmScripts(text)) {
      if (scripts[target] === undefined)
        findings.push({ file, line, message: `npm script "${target}" does not exist` });
    }
    if (file === 'docs/GUARANTEES.md') findings.push(...(await proofFindings(root, file, text)));
    const lines = text.trimEnd().split('\n').length;
    if (file === 'docs/ARCHITECTURE.md' && lines >= architectureLinesMax) {
      findings.push({ file, line: 0, message: `${lines} lines; a newcomer gets fewer than ${architectureLinesMax}` });
    }
  }
  return findings;
}
