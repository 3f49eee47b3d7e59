import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkedInTable, tableText } from '../test-support/read-tables.ts';
import { chartNames } from './charts.ts';
import { tableDigest, tableVersion } from './table-version.ts';

const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
const digest = `sha256:${createHash('sha256').update(chartNames.map(tableText).join('')).digest('hex')}`;

test('000 §364.1: the state tables are frozen: a change needs a new version, its digest and a line in the changelog', () => {
  // Not equal? If this version was released: raise tableVersion. Then pin the digest and tell the changelog.
  expect({ version: tableVersion, digest }).toEqual({ version: tableVersion, digest: tableDigest });
  expect(changelog).toMatch(new RegExp(`state tables, version ${tableVersion}\\b`, 'i'));
});

test('000 §364.1: every table carries the version it is released under', () => {
  expect(chartNames.filter((name) => checkedInTable(name).tableVersion !== tableVersion)).toEqual([]);
});
