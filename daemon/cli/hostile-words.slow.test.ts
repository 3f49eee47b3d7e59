/** Whatever is typed: exit code 3, a message that says what to do, and nothing written. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ended } from './test-support/forgeyard.ts';
import { exampleFile, forgeyard, temporaryProject } from './test-support/forgeyard.ts';

const empty = temporaryProject();
const used = temporaryProject();
const call = async (...words: readonly string[]): Promise<Ended> => await forgeyard({ cwd: used.cwd }, ...words);
const listing = (cwd: string): readonly string[] =>
  readdirSync(cwd, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/-(wal|shm)$/.test(name))
    .sort();

beforeAll(async () => {
  writeFileSync(join(empty.cwd, 'forgeyard.yaml'), '');
  writeFileSync(
    join(used.cwd, 'bad.yaml'),
    'project: p\nname: n\njobs:\n  a:\n    needs: [b]\n    steps: [x]\n  aa: {}\n',
  );
  writeFileSync(
    join(used.cwd, 'circle.yaml'),
    'project: p\nname: n\njobs:\n  a: {needs: [b], steps: [x]}\n  b: {needs: [a], steps: [x]}\n',
  );
  mkdirSync(join(used.cwd, 'folder'));
  for (let count = 0; count < 2; count += 1)
    expect((await call('run', 'start', exampleFile('conditions.yaml'), '--detach')).code).toBe(0);
});
afterAll(() => {
  empty.remove();
  used.remove();
});

describe('without a store', () => {
  const readings = [
    ['run', 'list'],
    ['run', 'show', '@last'],
    ['run', 'watch', '@last'],
    ['run', 'cancel', '@last'],
    ['run', 'retry', '@last'],
    ['run', 'priority', '@last', '1'],
    ['run', 'events', '@last'],
    ['run', 'graph', '@last'],
    ['run', 'explain', '@last'],
    ['job', 'list', '@last'],
    ['job', 'show', '@last/a'],
    ['job', 'attempts', '@last/a'],
    ['job', 'logs', '@last/a'],
    ['job', 'cancel', '@last/a'],
    ['job', 'skip', '@last/a'],
    ['job', 'explain', '@last/a'],
    ['gate', 'list'],
    ['gate', 'approve', '@last/a'],
    ['gate', 'reject', '@last/a'],
    ['store', 'check'],
    ['store', 'gc'],
  ];
  it.each(readings)('%s %s makes none, and says how to get one', async (...words) => {
    const { code, stdout, stderr } = await forgeyard({ cwd: empty.cwd }, ...words.filter((word) => word !== undefined));
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(
      /^error: there is no store at .*forgeyard\.db\n {2}try: forgeyard run start PLAN makes one\n/,
    );
    expect(listing(empty.cwd)).toEqual(['forgeyard.yaml']);
  });
});

describe('with a store', () => {
  const quick = exampleFile('quickstart.yaml');
  const hostile: readonly (readonly [words: readonly string[], message: RegExp])[] = [
    [[], /Usage: forgeyard/],
    [['bogus'], /unknown command 'bogus'/],
    [['run', 'strat'], /unknown command 'strat'[\s\S]*start/],
    [['run', 'list', '--bogus'], /unknown option '--bogus'[\s\S]*try: forgeyard run list --help/],
    [['run', 'list', 'extra'], /too many arguments/],
    [['run', 'show'], /missing required argument 'run'/],
    [['run', 'list', '--limit', '0'], /whole number from 1 to/],
    [['run', 'list', '--limit', '1e3'], /whole number/],
    [['run', 'list', '--state', 'Runing'], /Allowed choices are Queued, Running/],
    [['run', 'list', '-o', 'xml'], /Allowed choices are table, json, jsonl, yaml/],
    [['run', 'list', '--label', 'novalue'], /Write KEY=VALUE/],
    [['run', 'show', ''], /no run id[\s\S]*@last/],
    [['run', 'show', '../../etc/passwd'], /no run id/],
    [['run', 'show', 'run_'], /no run id/],
    [['run', 'show', 'run_zzzzzzzzzzzzzzzzzzzzzzzzzz'], /no run id/],
    [['run', 'show', 'run_7zzzzzzzzzzzzzzzzzzzzzzzzz'], /there is no run[\s\S]*run list/],
    [['run', 'show', `run_${'0'.repeat(10_000)}`], /no run id/],
    [['run', 'show', '\u001b[2Jrun_0'], /"·\[2Jrun_0" is no run id/],
    [['run', 'show', 'job_01'], /is the id of a job, and a run is asked for/],
    [['run', 'show', '@first'], /@last is the newest run/],
    [['run', 'show', 'run_0'], /the beginning of 2 runs[\s\S]*run_0\w{25} {2}Queued|the beginning of 2 runs/],
    [['run', 'show', "'; DROP TABLE runs; --"], /no run id/],
    [['job', 'show', '@last'], /no job id[\s\S]*RUN\/NAME/],
    [['job', 'show', '@last/nothing'], /no job called "nothing"[\s\S]*windows-only[\s\S]*job list/],
    [['job', 'show', '@last/__proto__'], /no job called "__proto__"/],
    [['job', 'show', 'run_7zzz/build'], /there is no run/],
    [['job', 'logs', '@last/deploy', '--attempt', '1'], /no attempt 1/],
    [['job', 'logs', '@last/deploy', '--attempt', '-1'], /whole number/],
    [['gate', 'approve', '@last/deploy'], /is a job of this run, and a gate is asked for/],
    [['gate', 'approve', 'gate_7zz'], /there is no gate/],
    [['run', 'priority', '@last', '1.5'], /whole number/],
    [['run', 'priority', '@last', '9999999'], /whole number from -1000000 to 1000000/],
    [['run', 'cancel', '@last', '-m', 'x'.repeat(1_025)], /At most 1024 characters/],
    [['run', 'start'], /missing required argument 'plan'/],
    [['run', 'start', 'nowhere.yaml'], /nowhere\.yaml:1:1 FileUnreadable: there is no such file/],
    [['run', 'start', 'folder'], /this is a directory/],
    [['run', 'start', 'bad.yaml'], /bad\.yaml:\d+:\d+ [\s\S]*2 problems; nothing was started/],
    [['run', 'start', 'circle.yaml'], /circle\.yaml:\d+:\d+ \w*Cycl?e?\w*|a -> b|b -> a/i],
    [['run', 'start', quick, '--slots', '0'], /whole number from 1 to/],
    [['run', 'start', quick, '--priority', 'high'], /whole number/],
    [['run', 'start', quick, '--label', '__proto__=x'], /Write KEY=VALUE/],
    [['run', 'start', quick, '--capability', 'a b'], /Letters, digits/],
    [['run', 'start', quick, '--secret-command', 'x=[1]'], /Write NAME=PROGRAM/],
    [['run', 'start', quick, '--request-id', 'a b'], /printable characters/],
    [
      ['run', 'start', quick, '--store', 'postgres://localhost/x'],
      /PostgreSQL is not supported by this version[\s\S]*sqlite:PATH/,
    ],
    [['run', 'list', '--store', 'redis:x'], /"redis:" is no kind of store/],
    [['run', 'list', '--store', ''], /empty/],
    [['plan', 'check'], /missing required argument 'plan'/],
    [['plan', 'check', 'bad.yaml'], /bad\.yaml:\d+:\d+ /],
    [['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
    [['store', 'gc', '--older-than', 'soon'], /duration such as/],
  ];

  it.each(hostile)('forgeyard %j is refused with what to do', async (words, message) => {
    const before = listing(used.cwd);
    const { code, stdout, stderr } = await call(...words);
    expect({ code, stdout: words[0] === 'plan' ? '' : stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\bat .*\.ts:\d+|node:internal/);
    expect(listing(used.cwd)).toEqual(before);
  });

  it('the same request id with another plan is a conflict', async () => {
    expect((await call('run', 'start', exampleFile('conditions.yaml'), '--detach', '--request-id', 'r1')).code).toBe(0);
    const again = await call('run', 'start', exampleFile('conditions.yaml'), '--detach', '--request-id', 'r1');
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('had already created') });
    const other = await call('run', 'start', quick, '--detach', '--request-id', 'r1');
    expect(other).toMatchObject({ code: 5, stderr: expect.stringContaining('RunExists') });
    expect(other.stderr).toMatch(/created run run_\w{26} from another plan/);
  });
});

describe('a store that is none', () => {
  it('is left as it is, and named', async () => {
    const file = join(used.cwd, 'notes.db');
    writeFileSync(file, 'dear diary');
    const { code, stderr } = await call('run', 'list', '--store', file);
    expect(code).toBe(70);
    expect(stderr).toMatch(/error: the store cannot be used: .*notes\.db: .*\n {2}try: Name another file/);
    expect(readFileSync(file, 'utf8')).toBe('dear diary');
    expect(existsSync(`${file}.d`)).toBe(false);
  });

  it('a directory that does not exist is made for a new run only', async () => {
    const file = join(used.cwd, 'deep', 'down', 'x.db');
    expect((await call('run', 'list', '--store', file)).code).toBe(3);
    expect(existsSync(join(used.cwd, 'deep'))).toBe(false);
    expect((await call('run', 'start', exampleFile('conditions.yaml'), '--detach', '--store', file)).code).toBe(0);
    expect((await call('run', 'list', '--store', `sqlite:${file}`)).stdout).toContain('examples/conditions');
  });
});
