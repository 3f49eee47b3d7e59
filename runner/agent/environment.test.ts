import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { jobSpec, scriptStep } from '../test-support/job-specs.ts';
import type { EnvironmentOptions } from './environment.ts';
import { buildEnvironment } from './environment.ts';

const step = scriptStep('true', { name: 'unit', env: { STEP: 'step', BOTH: 'step', FORGEYARD_JOB: 'a lie' } });
const spec = jobSpec([step], { env: { BOTH: 'job' }, matrix: { 'node-version': '26' } });
const authority = {
  run: 'run-id',
  job: 'job-id',
  attempt: 'attempt-id',
  lease: 'lease-id',
  epoch: 1,
  runner: 'runner-id',
  session: 'session-id',
  specDigest: `sha256:${'0'.repeat(64)}`,
};
const options: EnvironmentOptions = {
  host: { PATH: '/bin', HOME: '/home/me', LANG: 'C', TMPDIR: '/scratch', TOKEN: 'not for steps' },
  offer: {
    authority,
    jobName: 'test (node-version: 26)',
    runName: 'nightly',
    attemptNumber: 2,
    offerMs: 1,
    leaseTtlMs: 1,
    spec,
    inputs: [],
  },
  spec,
  step,
  work: '/space',
  sourceDir: '/source',
  secrets: new Map([
    ['KEY', 'value'],
    ['FORGEYARD_ATTEMPT_ID', 'another'],
  ]),
};

describe('agent: environment', () => {
  test('000 §228 a step is told who it is; a plan cannot change it, nor a secret hide its attempt', () => {
    expect(buildEnvironment(options)).toEqual({
      PATH: '/bin',
      HOME: '/home/me',
      LANG: 'C',
      TMPDIR: '/scratch',
      STEP: 'step',
      BOTH: 'step',
      KEY: 'value',
      CI: 'true',
      FORGEYARD: 'true',
      FORGEYARD_RUN_ID: 'run-id',
      FORGEYARD_RUN_NAME: 'nightly',
      FORGEYARD_JOB: 'test (node-version: 26)',
      FORGEYARD_JOB_ID: 'job-id',
      FORGEYARD_JOB_NAME: 'test (node-version: 26)',
      FORGEYARD_ATTEMPT: '2',
      FORGEYARD_ATTEMPT_ID: 'attempt-id',
      FORGEYARD_STEP: 'unit',
      FORGEYARD_WORKSPACE: '/space',
      FORGEYARD_SOURCE: '/source',
      FORGEYARD_MATRIX_NODE_VERSION: '26',
    });
  });

  test('docs/plan.md names every variable a step finds', async () => {
    const text = await readFile(new URL('../../docs/plan.md', import.meta.url), 'utf8');
    const given = buildEnvironment({ ...options, spec: jobSpec([]), step: scriptStep('true'), secrets: new Map() });
    const undocumented = Object.keys(given).filter((name) => !text.includes(`\`${name}\``));
    expect(undocumented).toEqual([]);
  });
});
