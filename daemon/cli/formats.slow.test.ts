/** What stands on stdout: four formats that parse back, no colour where nobody asked, help, completion. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { exampleFile, forgeyard, start, temporaryProject } from './test-support/forgeyard.ts';

const project = temporaryProject();
const place = { cwd: project.cwd };
const call = async (...words: readonly string[]) => await forgeyard(place, ...words);

beforeAll(async () => {
  expect((await call('run', 'start', exampleFile('on-failure.yaml'))).code).toBe(1);
});
afterAll(() => project.remove());

const readings: readonly (readonly string[])[] = [
  ['run', 'list'],
  ['run', 'show', '@last'],
  ['run', 'events', '@last'],
  ['run', 'graph', '@last'],
  ['run', 'explain', '@last'],
  ['job', 'list', '@last'],
  ['job', 'show', '@last/build'],
  ['job', 'attempts', '@last/build'],
  ['job', 'explain', '@last/deploy'],
  ['gate', 'list'],
  ['store', 'check'],
  ['store', 'gc', '--dry-run'],
  ['plan', 'check', exampleFile('gate.yaml')],
];

describe('formats', () => {
  it.each(readings)(
    '%s %s says the same as json, jsonl and yaml, and something readable as a table',
    async (...given) => {
      const words = given.filter((word) => word !== undefined);
      const [json, jsonl, yaml, table] = await Promise.all(
        ['json', 'jsonl', 'yaml', 'table'].map(async (format) => (await call(...words, '-o', format)).stdout),
      );
      const data: unknown = JSON.parse(json ?? '');
      const lines = (jsonl ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line): unknown => JSON.parse(line));
      const timeless = (value: unknown): unknown =>
        JSON.parse(JSON.stringify(value, (key, inner: unknown) => (/Ms$/.test(key) ? 0 : inner)));
      expect(timeless(lines)).toEqual(timeless(Array.isArray(data) ? data : [data]));
      expect(timeless(parse(yaml ?? ''))).toEqual(timeless(data));
      expect(table?.trim()).not.toBe('');
    },
  );

  it('000 §311 run show names run, plan, source, state, times, job totals and active retries', async () => {
    expect(JSON.parse((await call('run', 'show', '@last', '-o', 'json')).stdout)).toMatchObject({
      id: expect.stringMatching(/^run_\w{26}$/),
      planDigest: expect.stringMatching(/^sha256:/),
      source: { kind: expect.stringMatching(/^(git|directory)$/), dirty: expect.any(Boolean) },
      state: 'Failed',
      createdAt: expect.any(String),
      startedAt: expect.any(String),
      finishedAt: expect.any(String),
      jobs: { total: 5, ended: 5, byState: { Failed: 1, Skipped: 2, Succeeded: 2 } },
      activeRetries: [],
    });
  });

  it('000 §312 job show names attempt, lease, runner, resources, capabilities, history, failure and outputs', async () => {
    expect(JSON.parse((await call('job', 'show', '@last/build', '-o', 'json')).stdout)).toMatchObject({
      state: 'Failed',
      currentAttempt: null,
      lease: null,
      runner: null,
      resources: { slots: 1 },
      capabilities: [],
      attemptHistory: [{ number: 1, state: 'Failed', fault: 'workload', followedBy: 'job ended' }],
      failure: { class: expect.any(String) },
      outputs: [],
    });
  });

  it('run start -o json gives the run at the end; -o jsonl every fact as it happens', async () => {
    const json = await call('run', 'start', exampleFile('conditions.yaml'), '-o', 'json');
    expect(JSON.parse(json.stdout)).toMatchObject({ state: 'Succeeded', name: 'conditions' });
    const jsonl = await call('run', 'start', exampleFile('conditions.yaml'), '-o', 'jsonl');
    const facts = jsonl.stdout
      .trim()
      .split('\n')
      .map((line): { sequence: number; type: string } => JSON.parse(line));
    expect(facts.map((fact) => fact.sequence)).toEqual(facts.map((_, index) => index + 1));
    expect([facts[0]?.type, facts.at(-1)?.type]).toEqual(['RunCreated', 'RunSucceeded']);
  });

  it('a log is printed as it was written', async () => {
    const { code, stdout } = await call('job', 'logs', '@last/package');
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\[forgeyard\] step 1\/1: .*\npackaged\n$/),
    });
  });

  it('a reader that goes away is no error', async () => {
    const running = start(place, 'run', 'events', '@last');
    running.child.stdout?.destroy();
    expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('colour', () => {
  it('there is none where stdout and stderr are no terminals, and -q leaves only data', async () => {
    const { stdout, stderr } = await call('run', 'start', exampleFile('conditions.yaml'));
    expect(stdout + stderr).not.toContain('\u001b');
    expect(stderr).toContain('package  succeeded');
    expect((await call('run', 'start', exampleFile('conditions.yaml'), '-q')).stderr).toBe('');
  });
});

describe('help', () => {
  it.each([['--help'], ['run', '--help'], ['run', 'start', '--help'], ['help', 'run']])(
    '%s %s lists the exit codes',
    async (...words) => {
      const { code, stdout } = await call(...words.filter((word) => word !== undefined));
      expect(code).toBe(0);
      expect(stdout).toContain('Exit codes:');
      for (const line of [
        '0    ok',
        '1    the run failed',
        '2    the run was cancelled',
        '3    wrong usage',
        '4    not allowed',
        '5    conflict',
        '6    the run exceeded',
      ])
        expect(stdout).toContain(line);
    },
  );
});

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])(
    'the script for %s names every command and is valid where that shell is there',
    async (shell) => {
      const { code, stdout } = await call('completion', shell);
      expect(code).toBe(0);
      for (const word of ['run', 'start', 'explain', 'approve', 'schema', 'gc', '--store'])
        expect(stdout).toContain(word.replace(/^--/, shell === 'fish' ? '-l ' : '--'));
      const checked = spawnSync(shell, ['-n'], { input: stdout, encoding: 'utf8' });
      // Only bash is everywhere.
      if (shell === 'bash' || checked.error === undefined) expect(checked).toMatchObject({ status: 0, stderr: '' });
    },
  );

  it('bash completes commands, options, files and @last', () => {
    const script = spawnSync(process.execPath, ['daemon/cli/main.ts', 'completion', 'bash'], {
      encoding: 'utf8',
    }).stdout;
    const complete = (...words: readonly string[]): readonly string[] => {
      const body = `${script}\nCOMP_WORDS=(forgeyard ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}; _forgeyard; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return spawnSync('bash', ['-c', body], { encoding: 'utf8' }).stdout.trim().split('\n');
    };
    expect(complete('ru')).toEqual(['run']);
    expect(complete('run', 'ca')).toEqual(['cancel']);
    expect(complete('run', 'show', '@')).toEqual(['@last']);
    expect(complete('run', 'start', '--sl')).toEqual(['--slots']);
    expect(complete('--store', 'here.db', '-q', 'run', 'ca')).toEqual(['cancel']);
    expect(complete('--store', '=', 'here.db', 'run', 'ca')).toEqual(['cancel']);
    expect(complete('run', '-o', 'json', 'ca')).toEqual(['cancel']);
    expect(complete('run', 'list', '-o', 'y')).toEqual(['yaml']);
    expect(complete('--output', '=', 'ta')).toEqual(['table']);
    expect(complete('--store', 'package.j')).toEqual(['package.json']);
    expect(complete('plan', 'check', 'package.j')).toEqual(['package.json']);
  });
});
