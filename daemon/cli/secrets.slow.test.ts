/** A secret that its jobs print, fail with and name in every way: nothing that is kept or told holds it. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forgeyard, temporaryProject } from './test-support/forgeyard.ts';

const secret = 'qX7~zR2&kLm9!wTp4=vBn6#hJd';
const half = secret.length / 2;
const [front, back] = [secret.slice(0, half), secret.slice(half)];

/** Every form in which somebody could read it again, and its halves. */
const forms: readonly string[] = [
  secret,
  front,
  back,
  Buffer.from(secret).toString('base64'),
  Buffer.from(secret).toString('base64url'),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
];

/** The shell cuts it in two: each write is a chunk of its own, and no text of the plan holds a half. */
const plan = `project: test
name: telltale
defaults:
  timeouts: {grace: 1s}
jobs:
  prints:
    secrets: {TOKEN: env:EXAMPLE_TOKEN}
    steps:
      - |
        echo "whole: $TOKEN"
        printf '%.${half}s' "$TOKEN"; sleep 0.2; printf '%s\\n' "\${TOKEN#${'?'.repeat(half)}}"
        printf '%s' "$TOKEN" | base64
        echo "to stderr: $TOKEN" >&2
  fails:
    secrets: {TOKEN: env:EXAMPLE_TOKEN}
    retry: {attempts: 2, backoff: none}
    steps:
      - name: says it and fails
        run: |
          echo "$TOKEN"
          exit 3
  stopped:
    secrets: {TOKEN: env:EXAMPLE_TOKEN}
    steps:
      - name: never ends
        timeout: 1s
        run: |
          printf 'without an end: %s' "$TOKEN"
          exec sleep 60
`;

let project = temporaryProject();
beforeEach(() => {
  project = temporaryProject();
});
afterEach(() => project.remove());

function filesBelow(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((file) => statSync(file).isFile());
}

const holding = (text: Buffer): readonly string[] => forms.filter((form) => text.includes(form));

describe('secrets', () => {
  it('003 §301.29 003 §303.22: no file, fact or answer holds the value, an encoding of it, or a half', async () => {
    writeFileSync(join(project.cwd, 'plan.yaml'), plan);
    const place = { cwd: project.cwd, env: { EXAMPLE_TOKEN: secret } };
    const run = await forgeyard(place, 'run', 'start', 'plan.yaml', '-o', 'jsonl');
    expect(run.code, run.stderr).toBe(1);
    const questions = [
      ['run', 'show', '@last'],
      ['run', 'events', '@last'],
      ['run', 'explain', '@last'],
      ['job', 'show', '@last/fails'],
      ['job', 'attempts', '@last/fails'],
      ['job', 'explain', '@last/fails'],
    ];
    const said = [run.stdout, run.stderr];
    for (const words of questions) said.push((await forgeyard(place, ...words, '-o', 'json')).stdout);
    for (const job of ['prints', 'fails', 'stopped'])
      said.push((await forgeyard(place, 'job', 'logs', `@last/${job}`)).stdout);
    for (const text of said) expect(holding(Buffer.from(text))).toEqual([]);

    const kept = filesBelow(join(project.cwd, '.forgeyard'));
    const found = kept.flatMap((file) => holding(readFileSync(file)).map((form) => `${file}: ${form}`));
    expect(found).toEqual([]);
    // The search is able to find: what stands around the secret is there, and so is its name.
    const everything = Buffer.concat(kept.map((file) => readFileSync(file)));
    for (const around of ['whole: ***', 'to stderr: ***', 'without an end: ***', 'env:EXAMPLE_TOKEN'])
      expect(everything.includes(around), around).toBe(true);
    expect(said.at(-3)).toMatch(/whole: \*\*\*\n(.*\n)*\*\*\*\n\*\*\*\n/);
  });
});
