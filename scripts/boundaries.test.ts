import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { BoundaryReport } from './boundaries/check.ts';
import { checkBoundaries } from './boundaries/check.ts';
import { rules } from './boundaries/rules.ts';

/** A small project with one file that breaks each rule, named after it. */
const planted: Readonly<Record<string, readonly [file: string, text: string]>> = {
  'machines-are-pure': ['machines/a.ts', `import { readFileSync } from 'node:fs';\nexport const a = readFileSync;\n`],
  'store-contract-is-abstract': ['store/contract.ts', `import { parse } from 'yaml';\nexport const b = parse;\n`],
  'store-implementation-alone': ['store/sqlite/c.ts', `import { m } from '../memory/index.ts';\nexport const c = m;\n`],
  'contracts-take-types-only': [
    'runner/protocol/types.ts',
    `import type { M } from '../../machines/index.ts';\nexport { value } from '../../machines/index.ts';\nexport type T = M;\n`,
  ],
  'runner-protocol-is-a-language': ['runner/protocol/d.ts', `import { x } from '../index.ts';\nexport const d = x;\n`],
  'actors-know-contracts': ['actors/e.ts', `import { m } from '../store/memory/index.ts';\nexport const e = m;\n`],
  'runner-is-no-authority': ['runner/f.ts', `import { s } from '../store/index.ts';\nexport const f = s;\n`],
  'spec-driver-stands-alone': ['spec/g.ts', `import type { M } from '../machines/index.ts';\nexport const g: M = 1;\n`],
  'transport-implementation-alone': [
    'transport/http/h.ts',
    `import { s } from '../../store/index.ts';\nexport const h = s;\n`,
  ],
  'transport-contract-is-abstract': ['transport/i.ts', `import { parse } from 'yaml';\nexport const i = parse;\n`],
  'conformance-is-an-outsider': ['conformance/j.ts', `export { k } from '../bench/index.ts';\n`],
  'web-reads-the-public-schema': ['web/k.ts', `import { s } from '../store/index.ts';\nexport const k = s;\n`],
  'bench-and-examples-are-users': ['bench/l.ts', `import { y } from '../runner/inside.ts';\nexport const l = y;\n`],
  'daemon-is-on-top': ['conformance/n.ts', `import { z } from '../daemon/index.ts';\nexport const n = z;\n`],
  'entry-points-only': ['daemon/o.ts', `import type { Y } from '../runner/inside.ts';\nexport const o: Y = 1;\n`],
  'no-cycles': ['machines/p.ts', `import { q } from './q.ts';\nexport const p = q;\n`],
  'no-unresolvable': ['daemon/r.ts', `import { nowhere } from './nowhere.ts';\nexport const r = nowhere;\n`],
  'tools-stay-outside': ['daemon/s.ts', `import { t } from '../scripts/index.ts';\nexport const s = t;\n`],
  'tests-are-leaves': ['daemon/t.ts', `import { u } from './u.test.ts';\nexport const t = u;\n`],
  'entries-need-no-dev-packages': ['actors/index.ts', `export { v } from './v.ts';\n`],
};

/** Syntax the parser's visitor must walk through to reach the import at its end. */
const modernSyntax = `
using first = open();
await using second = await open();
function open(this: void) { return { [Symbol.dispose]() {}, async [Symbol.asyncDispose]() {} } satisfies object; }
class Box<const T> { static { Box.made = 0; } static made = 0; #inner?: T; accessor shown = 1; get it(): T | undefined { return this.#inner; } }
type Name<T> = T extends \`\${infer Head}_\${string}\` ? Head : never;
declare const brand: unique symbol;
export function isBox(value: unknown): value is Box<1> { for (using x of [open()]) void x; return value instanceof Box; }
export async function* later() { for await (const each of [1]) yield (await import('../store/memory/hidden.ts')) ?? each; }
`;

function fakePackage(name: string): Readonly<Record<string, string>> {
  return {
    [`node_modules/${name}/package.json`]: JSON.stringify({ name, type: 'module', exports: './index.js' }),
    [`node_modules/${name}/index.js`]: 'export const assert = 1;\nexport const parse = 1;\n',
  };
}

const rest: Readonly<Record<string, string>> = {
  ...fakePackage('fast-check'),
  ...fakePackage('yaml'),
  ...fakePackage('zod'),
  'daemon/modern.ts': modernSyntax,
  'machines/schema.ts': `import { parse } from 'zod';\nexport const schema = parse;\n`,
  'package.json': '{ "type": "module", "devDependencies": { "fast-check": "1" } }',
  'actors/v.ts': `import { assert } from 'fast-check';\nexport const v = assert;\n`,
  'bench/index.ts': 'export const k = 1;\n',
  'daemon/index.ts': 'export const z = 1;\n',
  'daemon/u.test.ts': 'export const u = 1;\n',
  'machines/index.ts': 'export type M = number;\nexport const value = 1;\n',
  'machines/q.ts': `import type { p } from './p.ts';\nexport const q = 1 as typeof p;\n`,
  'runner/index.ts': `export { y as x } from './inside.ts';\n`,
  'runner/inside.ts': `import { spawn } from 'node:child_process';\nexport type Y = number;\nexport const y = spawn;\n`,
  'scripts/index.ts': 'export const t = 1;\n',
  'store/index.ts': 'export const s = 1;\n',
  'store/typed.ts': `import type { M } from '../machines/index.ts';\nexport type S = M;\n`,
  'store/memory/hidden.ts': 'export const hidden = 1;\n',
  'store/memory/index.ts': `import { readFile } from 'node:fs/promises';\nexport const m = readFile;\n`,
};

let root: string;
let report: BoundaryReport;

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'boundaries-'));
  const files = [...Object.entries(rest), ...Object.values(planted)];
  for (const [file, text] of files) {
    await mkdir(path.dirname(path.join(root, file)), { recursive: true });
    await writeFile(path.join(root, file), text);
  }
  report = await checkBoundaries(root);
});

afterAll(() => rm(root, { recursive: true, force: true }));

describe('boundaries', () => {
  test.each(Object.entries(planted))('a file that breaks %s is found', (name, [file]) => {
    expect(report.violations.filter((each) => each.rule === name).map((each) => each.from)).toContain(file);
  });

  test('every rule is broken once above, so none can rot unseen', () => {
    expect(Object.keys(planted)).toEqual(expect.arrayContaining(rules.map((rule) => rule.name)));
  });

  test('an import behind `using`, generics and other late syntax is still seen', () => {
    const found = report.violations.filter((each) => each.from === 'daemon/modern.ts');
    expect(found.map((each) => [each.rule, each.to])).toEqual([['entry-points-only', 'store/memory/hidden.ts']]);
  });

  test('every file of the project was opened', () => {
    expect(report.missed).toEqual([]);
  });

  test('built-ins and entry points of others are no violation where the table allows them', () => {
    const innocent = ['runner/inside.ts', 'store/memory/index.ts', 'machines/schema.ts', 'store/typed.ts'];
    const blamed = new Set(report.violations.map((each) => each.from));
    expect([...blamed].filter((file) => innocent.includes(file))).toEqual([]);
  });
});
