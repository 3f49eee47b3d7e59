/** The command line asks and shows; what is so is decided and written elsewhere. */
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Command } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkStore } from '../../conformance/testkit/index.ts';
import { openSqliteStore } from '../../store/index.ts';
import { createProgram } from './program/program.ts';
import { forgeyard, temporaryProject } from './test-support/forgeyard.ts';

/** Every command is one or the other. */
const readings = [
  ['run', 'list'],
  ['run', 'show', '@last'],
  ['run', 'events', '@last'],
  ['run', 'graph', '@last'],
  ['run', 'explain', '@last'],
  ['job', 'list', '@last'],
  ['job', 'show', '@last/after'],
  ['job', 'attempts', '@last/after'],
  ['job', 'logs', '@last/after'],
  ['job', 'explain', '@last/after'],
  ['gate', 'list'],
  ['plan', 'check', 'plan.yaml'],
  ['plan', 'schema'],
  ['store', 'check'],
  ['completion', 'bash'],
] as const;
const askings = [
  'run start',
  'run watch',
  'run cancel',
  'run retry',
  'run priority',
  'job cancel',
  'job skip',
  'gate approve',
  'gate reject',
  'store gc',
];

const plan = `project: test
name: asked
jobs:
  first:
    steps: [echo]
  second:
    steps: [echo]
  after:
    needs: [go]
    steps: [echo]
gates:
  go:
    needs: [first]
`;

let project = temporaryProject();
const database = (): string => join(project.cwd, '.forgeyard', 'forgeyard.db');
const call = async (...words: readonly string[]) => await forgeyard({ cwd: project.cwd }, ...words);

beforeEach(async () => {
  project = temporaryProject();
  writeFileSync(join(project.cwd, 'plan.yaml'), plan);
  expect((await call('run', 'start', 'plan.yaml', '--detach')).code).toBe(0);
});
afterEach(() => project.remove());

/** Digest of the rows of every table; that a process was alive is no state of anything. */
function contents(): Readonly<Record<string, string>> {
  const open = new DatabaseSync(database(), { readOnly: true });
  const tables = open.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`).all();
  const names = tables
    .map(({ name }) => String(name))
    .filter((name) => !['control_heartbeat', 'credits'].includes(name));
  const digests = names.map((name) => {
    const rows = JSON.stringify(open.prepare(`SELECT * FROM "${name}"`).all());
    return [name, createHash('sha256').update(rows).digest('hex')] as const;
  });
  open.close();
  return Object.fromEntries(digests);
}

function leaves(command: Command, path: readonly string[] = []): readonly (readonly [string, Command])[] {
  const here = command.parent === null ? path : [...path, command.name()];
  if (command.commands.length === 0) return [[here.join(' '), command]];
  return command.commands.flatMap((child) => leaves(child, here));
}

describe('000 §376.23 the command line is no authority', () => {
  it('every command either reads or asks, and none of them takes the state that something shall have', () => {
    const commands = leaves(createProgram(async () => {}, '0'));
    const known = [...readings.map(([kind, name]) => (kind === 'completion' ? kind : `${kind} ${name}`)), ...askings];
    expect(commands.map(([name]) => name).sort()).toEqual(known.sort());
    const takeState = commands.filter(([, { options, registeredArguments }]) =>
      [...options, ...registeredArguments].some(({ argChoices }) => argChoices?.includes('Succeeded')),
    );
    // As a filter of what is listed.
    expect(takeState.map(([name]) => name)).toEqual(['run list', 'job list']);
    for (const [, { options }] of commands)
      expect(options.map(({ long }) => long)).not.toContainEqual(expect.stringMatching(/force|set|mark|complete/));
  });

  it('what reads leaves every row as it was', async () => {
    const before = contents();
    expect(Object.keys(before)).toEqual(expect.arrayContaining(['runs', 'jobs', 'gates', 'events', 'audit', 'outbox']));
    for (const words of readings) {
      const { code, stderr } = await call(...words);
      expect(code, `${words.join(' ')}: ${stderr}`).toBe(words[1] === 'logs' ? 3 : 0);
      expect(contents(), words.join(' ')).toEqual(before);
    }
  });

  it('what asks goes the way of every command: facts that name the user, an audit entry, rows that follow from facts', async () => {
    const asked = [
      ['run', 'priority', '@last', '7'],
      ['job', 'cancel', '@last/second'],
      ['job', 'skip', '@last/first'],
      ['gate', 'approve', '@last/go'],
      ['run', 'cancel', '@last'],
    ] as const;
    for (const words of asked) expect((await call(...words, ...(words.length === 3 ? ['-m', 'so'] : []))).code).toBe(0);
    // What has ended is asked in vain.
    const ended = contents();
    for (const words of [
      ['job', 'skip', '@last/second'],
      ['gate', 'reject', '@last/go'],
      ['run', 'priority', '@last', '8'],
    ])
      expect((await call(...words)).code, words.join(' ')).toBe(5);
    expect(contents()).toEqual(ended);

    const store = openSqliteStore({ file: database(), clock: { now: () => Date.now() } });
    try {
      expect(await checkStore(store)).toEqual([]);
      const log = [...(await store.auditLog({ limit: 20 }))].reverse();
      expect(log.map(({ action, outcome }) => `${action} ${outcome}`)).toEqual([
        'run.priority allowed',
        'job.cancel allowed',
        'job.skip allowed',
        'gate.approve allowed',
        'run.cancel allowed',
      ]);
      expect(log.filter(({ actor }) => !actor.startsWith('user:'))).toEqual([]);
    } finally {
      await store.close();
    }
  });
});
