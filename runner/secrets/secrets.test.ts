import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { jobSpec } from '../test-support/job-specs.ts';
import { createStage } from '../test-support/stage.ts';
import { resolveSecrets } from './resolve-secrets.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'secrets-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const resolve = (references: Record<string, string>) =>
  resolveSecrets({
    references,
    env: { TOKEN: 'from env' },
    signal: new AbortController().signal,
    providers: {
      filesFrom: dir,
      commandTimeoutMs: 5_000,
      commands: { vault: ['/bin/sh', '-c', 'echo from command'], broken: ['/bin/sh', '-c', 'echo s3cret >&2; exit 1'] },
    },
  });

describe('secrets', () => {
  test('000 §228 values come from the environment, a file or a configured command of the runner', async () => {
    await writeFile(join(dir, 'token'), 'from file\n');
    const resolved = await resolve({ A: 'env:TOKEN', B: 'file:token', C: 'command:vault' });
    expect(resolved.kind === 'resolved' && Object.fromEntries(resolved.values)).toEqual({
      A: 'from env',
      B: 'from file',
      C: 'from command',
    });
  });

  test.each([
    ['env:MISSING', 'no such environment variable'],
    ['file:missing', 'cannot read the file'],
    ['command:rm -rf', 'no such command'],
    ['command:constructor', 'no such command'],
    ['command:broken', 'the command failed'],
    ['plain', 'not a reference'],
  ])('000 §229 %s fails with the reference and no value', async (reference, problem) => {
    const failed = await resolve({ NAME: reference });
    expect(failed).toMatchObject({ kind: 'failed', message: expect.stringContaining(problem) });
    expect(JSON.stringify(failed)).toContain(reference);
    expect(JSON.stringify(failed)).not.toContain('s3cret');
  });
});

describe('secrets in an attempt', () => {
  test('000 §229 a step gets the value, its logs and the messages do not', async () => {
    const value = 'correct horse battery staple';
    const made = await createStage({ env: { PATH: process.env.PATH, TOKEN: value } });
    try {
      // Two writes with a pause in between, so that the secret arrives in two pieces.
      const script = `printf 'correct horse bat'; sleep 0.02; echo 'tery staple'; echo "$PASSWORD" >&2; test "$PASSWORD" = '${value}'`;
      const { attempt } = made.control.offer(jobSpec([script], { secrets: { PASSWORD: 'env:TOKEN' } }));
      await made.control.expectMessage('complete');
      await made.expectEvent('attemptEnded');
      for (const file of ['attempt.log', '1-step.log']) {
        const log = await made.log(`${attempt}/${file}`);
        expect(log.match(/\*\*\*/g)).toHaveLength(2);
        expect(log).not.toContain('battery');
      }
      expect(JSON.stringify([made.control.received, made.events])).not.toContain(value);
    } finally {
      await made.close();
    }
  });

  test('000 §228 a missing secret fails before the start as InputFetch, not transient, naming the reference', async () => {
    const made = await createStage();
    try {
      made.control.offer(jobSpec(['true'], { secrets: { TOKEN: 'env:NOWHERE' } }));
      const fail = await made.control.expectMessage('fail');
      expect(fail).toMatchObject({ failureClass: 'InputFetch', transient: false });
      expect(fail.detail.message).toContain('env:NOWHERE');
      expect(made.control.of('start')).toEqual([]);
    } finally {
      await made.close();
    }
  });
});
