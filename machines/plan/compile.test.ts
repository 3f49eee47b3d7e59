import { describe, expect, test } from 'vitest';
import { compileSample, edgesOf, gateNamed, jobNamed, planSample, sample } from './test-support/compile-sample.ts';

const steps = ['true'];

describe('plan: the run', () => {
  test('everything that is not written has its default', () => {
    expect(planSample(sample({ a: { steps } }))).toEqual({
      schemaVersion: 1,
      project: 'p',
      name: 'n',
      source: { kind: 'directory', commit: null, dirty: false },
      deadlineMs: null,
      failFast: false,
      labels: {},
      priority: 0,
      concurrency: null,
      nodes: [expect.objectContaining({ name: 'a', index: 0, needs: [], required: true, failureImpact: 'blocking' })],
    });
  });

  test('everything that is written arrives', () => {
    const plan = planSample(
      sample(
        { a: { steps } },
        {
          deadline: '1h',
          failFast: true,
          labels: { team: 'x', year: 2026 },
          priority: -3,
          concurrency: { group: 'g', supersede: true },
        },
      ),
    );
    expect(plan).toMatchObject({
      deadlineMs: 3_600_000,
      failFast: true,
      labels: { team: 'x', year: '2026' },
      priority: -3,
      concurrency: { group: 'g', supersede: true },
    });
  });
});

describe('plan: jobs', () => {
  test('a job without settings gets those of the requirements', () => {
    const job = jobNamed(planSample(sample({ a: { steps } })), 'a');
    expect(job).toMatchObject({
      condition: { holds: true },
      completionAfterIntent: 'honor_intent',
      cacheKey: null,
      matrix: null,
      retry: {
        attemptsMax: 1,
        infrastructureRetriesMax: 3,
        backoff: { kind: 'exponential', baseMs: 1000, factor: 2, maxMs: 60_000 },
      },
    });
    expect(job.spec).toEqual({
      steps: [
        {
          name: 'true',
          command: { kind: 'script', script: 'true', shell: ['sh', '-eu'] },
          env: {},
          workingDirectory: null,
          timeoutMs: null,
          failureClass: null,
        },
      ],
      env: {},
      workingDirectory: null,
      outputs: [],
      reports: [],
      secrets: {},
      capabilities: [],
      matrix: {},
      inputsFrom: [],
      timeouts: {
        queueMs: null,
        preparationMs: null,
        executionMs: null,
        executionIncludesPreparation: false,
        uploadMs: null,
        terminationGraceMs: 10_000,
      },
      connectivity: { kind: 'continuous' },
    });
  });

  test('a job overrides the defaults of its run, entry by entry', () => {
    const plan = planSample(
      sample(
        {
          own: {
            steps,
            env: { A: 'job' },
            secrets: { S: 'env:S' },
            timeouts: { queue: 'none', grace: '1s' },
            retry: { on: ['Timeout'] },
            connectivity: { grace: '5s' },
            shell: ['bash'],
          },
          other: { steps },
        },
        {
          retry: { attempts: 3, backoff: '2s' },
          defaults: {
            env: { A: 'run', B: true, S: 'plain' },
            timeouts: { queue: '1m', execution: 5000 },
            capabilities: ['linux'],
            shell: ['dash'],
            connectivity: { offline: '1h' },
          },
        },
      ),
    );
    const { spec, retry } = jobNamed(plan, 'own');
    expect(spec.env).toEqual({ A: 'job', B: 'true' });
    expect(spec.timeouts).toMatchObject({ queueMs: null, executionMs: 5000, terminationGraceMs: 1000 });
    expect(spec).toMatchObject({ capabilities: ['linux'], connectivity: { kind: 'grace', extraMs: 5000 } });
    expect(spec.steps[0]?.command).toMatchObject({ shell: ['bash'] });
    expect(retry).toMatchObject({ attemptsMax: 3, retryOn: ['Timeout'], backoff: { kind: 'fixed', delayMs: 2000 } });
    expect(jobNamed(plan, 'other').spec).toMatchObject({
      timeouts: { queueMs: 60_000 },
      connectivity: { kind: 'offline_authorized', extraMs: 3_600_000 },
    });
    expect(jobNamed(plan, 'other').spec.steps[0]?.command).toMatchObject({ shell: ['dash'] });
  });

  test('a step is called by its first line when it has no name', () => {
    const plan = planSample(
      sample({
        a: { steps: ['\n  make all\n  make test', { argv: ['node', '-v'] }, { run: 'x', name: 'own' }, '\n'] },
      }),
    );
    expect(jobNamed(plan, 'a').spec.steps.map(({ name }) => name)).toEqual(['make all', 'node -v', 'own', 'step']);
  });

  test.each([
    [false, { holds: false, reason: 'ConditionFalse', message: null }],
    [
      { reason: 'Policy', message: 'no' },
      { holds: false, reason: 'Policy', message: 'no' },
    ],
    [{ holds: true, reason: 'Policy' }, { holds: true }],
  ])('the condition %j was evaluated by the planner', (condition, expected) => {
    expect(jobNamed(planSample(sample({ a: { steps, condition } })), 'a').condition).toEqual(expected);
  });

  test('000 §181: equal specs have equal digests, however they were written, and other work has others', () => {
    const plan = planSample(
      sample({
        a: { steps, env: { X: '1', Y: '2' }, retry: { attempts: 2 } },
        b: { env: { Y: 2, X: 1 }, steps: [{ run: 'true' }] },
        c: { steps, env: { X: '1', Y: '3' } },
      }),
    );
    expect(jobNamed(plan, 'a').specDigest).toBe(jobNamed(plan, 'b').specDigest);
    expect(jobNamed(plan, 'a').specDigest).not.toBe(jobNamed(plan, 'c').specDigest);
  });
});

describe('plan: order and names', () => {
  test('plan order is the order of the document, and every index is a place in it', () => {
    const plan = planSample({
      project: 'p',
      name: 'n',
      gates: { g: null },
      jobs: { z: { steps }, m: { steps, matrix: { axes: { b: [1, 2], a: ['x', true] } } }, a: { steps } },
    });
    expect(plan.nodes.map(({ name }) => name)).toEqual([
      'g',
      'z',
      'm[b=1,a=x]',
      'm[b=1,a=true]',
      'm[b=2,a=x]',
      'm[b=2,a=true]',
      'a',
    ]);
    expect(plan.nodes.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  test('a gate says who decides and what happens when nobody does', () => {
    const document = sample(
      { a: { steps } },
      { gates: { g: { approvers: ['ann', 'ann'], expiry: '1m', onExpiry: 'satisfy', description: 'go?' }, h: {} } },
    );
    expect(gateNamed(planSample(document), 'g')).toMatchObject({
      approvers: ['ann'],
      expiryMs: 60_000,
      onExpiry: 'satisfy',
      description: 'go?',
    });
    expect(gateNamed(planSample(document), 'h')).toMatchObject({
      approvers: [],
      expiryMs: null,
      onExpiry: 'reject',
      description: null,
    });
  });
});

describe('plan: matrix', () => {
  test('000 §86: children are ordinary jobs that share their origin, with work and cache key of their own', () => {
    const matrix = {
      axes: { os: ['l', 'm'], node: [24, 26] },
      exclude: [{ os: 'm', node: 24 }],
      include: [{ node: 26, os: 'w' }],
      failFast: true,
    };
    const plan = planSample(sample({ t: { steps, matrix, cacheKey: 'k' } }));
    expect(plan.nodes.map(({ name }) => name)).toEqual([
      't[os=l,node=24]',
      't[os=l,node=26]',
      't[os=m,node=26]',
      't[os=w,node=26]',
    ]);
    const child = jobNamed(plan, 't[os=w,node=26]');
    expect(child).toMatchObject({
      matrix: { group: 't', failFast: true },
      cacheKey: 'k[os=w,node=26]',
      spec: { matrix: { os: 'w', node: '26' } },
    });
    expect(new Set(plan.nodes.map((node) => (node.kind === 'job' ? node.specDigest : ''))).size).toBe(4);
  });

  test('its name stands for all children, the name of a child for one', () => {
    const plan = planSample(
      sample({
        t: { steps, matrix: { axes: { n: [1, 2] } } },
        all: { steps, needs: ['t'] },
        one: { steps, needs: ['t[n=2]'] },
      }),
    );
    expect(edgesOf(plan, 'all')).toEqual(['t[n=1] success', 't[n=2] success']);
    expect(edgesOf(plan, 'one')).toEqual(['t[n=2] success']);
  });
});

describe('plan: edges', () => {
  test('a need is a name, or says what kind of end it takes', () => {
    const needs = [
      'a',
      { job: 'b', condition: 'completed' },
      { gate: 'g', condition: 'always' },
      { node: 'c', required: false },
    ];
    const plan = planSample(
      sample({ a: { steps }, b: { steps }, c: { steps }, z: { steps, needs } }, { gates: { g: {} } }),
    );
    expect(edgesOf(plan, 'z')).toEqual(['a success', 'b completed', 'g always', 'c always?']);
  });

  test('anyFailure is failure on the node and on everything above it, each edge once', () => {
    const plan = planSample(
      sample(
        {
          a: { steps },
          m: { steps, needs: ['a'], matrix: { axes: { n: [1, 2] } } },
          d: { steps, needs: ['g', 'm[n=1]'] },
          unrelated: { steps },
          h: {
            steps,
            needs: [
              { job: 'd', condition: 'anyFailure' },
              { job: 'a', condition: 'failure' },
            ],
          },
        },
        { gates: { g: { needs: ['m'] } } },
      ),
    );
    expect(edgesOf(plan, 'h')).toEqual(['d failure', 'a failure', 'm[n=1] failure', 'm[n=2] failure', 'g failure']);
  });

  test('a chain of 20,000 jobs needs no deep stack', () => {
    const jobs = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [
        `j${index}`,
        { steps, needs: index === 0 ? [] : [`j${index - 1}`] },
      ]),
    );
    expect(planSample(sample(jobs)).nodes).toHaveLength(20_000);
  });
});

describe('plan: inputs', () => {
  const jobs = {
    a: { steps, outputs: ['a'] },
    b: { steps, outputs: ['b'], needs: ['a'] },
    silent: { steps },
    failing: { steps, outputs: ['f'] },
    direct: { steps, needs: ['b', 'silent', { job: 'failing', condition: 'failure' }] },
    behind: { steps, needs: ['g'] },
    chosen: { steps, needs: ['b'], inputsFrom: ['a'] },
    none: { steps, needs: ['b'], inputsFrom: [] },
  };
  const plan = planSample(sample(jobs, { gates: { g: { needs: ['b'] } } }));

  test.each([
    ['direct', ['b']],
    ['behind', ['b']],
    ['chosen', ['a']],
    ['none', []],
  ])('%s takes the outputs of %j', (name, expected) => {
    expect(jobNamed(plan, name).spec.inputsFrom).toEqual(expected);
  });
});

describe('plan: warnings', () => {
  const gate = { g: { needs: ['a'] } };
  const jobs = { a: { steps }, b: { steps }, c: { steps, needs: ['g', { job: 'b', condition: 'failure' }] } };

  function warningsOf(document: unknown): string[] {
    const compiled = compileSample(document);
    return compiled.ok ? compiled.warnings.map(({ code, path }) => `${code} at ${path.join('.')}`) : ['not ok'];
  }

  test('a gate that may wait for ever: neither expiry nor deadline', () => {
    expect(warningsOf(sample({ a: { steps } }, { gates: gate }))).toEqual(['GateMayWaitForever at gates.g']);
    expect(warningsOf(sample({ a: { steps } }, { gates: gate, deadline: '1h' }))).toEqual([]);
    expect(warningsOf(sample({ a: { steps } }, { gates: { g: { expiry: '1h' } } }))).toEqual([]);
  });

  test('a gate that lacks an edge of the job behind it: a person may be asked for nothing', () => {
    expect(warningsOf(sample(jobs, { gates: gate, deadline: '1h' }))).toEqual(['GateAsksForNothing at jobs.c.needs.1']);
    const needing = { ...jobs, c: { steps, needs: ['g', 'b', { job: 'a', condition: 'always' }] } };
    expect(warningsOf(sample(needing, { gates: gate, deadline: '1h' }))).toEqual([]);
    const same = { g: { needs: ['a', { job: 'b', condition: 'failure' }] } };
    expect(warningsOf(sample(jobs, { gates: same, deadline: '1h' }))).toEqual([]);
  });

  test('an exclusion that removes nothing', () => {
    const matrix = { axes: { n: [1, 2] }, exclude: [{ n: 3 }] };
    expect(warningsOf(sample({ a: { steps, matrix } }))).toEqual(['ExcludeMatchesNothing at jobs.a.matrix.exclude.0']);
  });
});
