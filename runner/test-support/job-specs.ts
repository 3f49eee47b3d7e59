/** Small job specs for tests. */
import type { WireJobSpec, WireStepSpec } from '../protocol/index.ts';

const shell = ['/bin/sh', '-eu'] as const;

export function scriptStep(script: string, more: Partial<WireStepSpec> = {}): WireStepSpec {
  const command: WireStepSpec['command'] = { kind: 'script', script, shell: [...shell] };
  return { name: 'step', command, env: {}, workingDirectory: null, timeoutMs: null, failureClass: null, ...more };
}

export function jobSpec(steps: readonly (string | WireStepSpec)[], more: Partial<WireJobSpec> = {}): WireJobSpec {
  return {
    steps: steps.map((step) => (typeof step === 'string' ? scriptStep(step) : step)),
    env: {},
    workingDirectory: null,
    outputs: [],
    reports: [],
    secrets: {},
    capabilities: [],
    matrix: {},
    inputsFrom: [],
    timeouts: timeouts({}),
    connectivity: { kind: 'continuous' },
    ...more,
  };
}

export function timeouts(more: Partial<WireJobSpec['timeouts']>): WireJobSpec['timeouts'] {
  return {
    queueMs: null,
    preparationMs: null,
    executionMs: null,
    executionIncludesPreparation: false,
    uploadMs: null,
    terminationGraceMs: 5_000,
    ...more,
  };
}
