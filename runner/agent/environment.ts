/**
 * The environment of a step is built, not inherited (000 §228): what a plan does not name is not there.
 * Later sources win: host basics, job, step, the agent's own variables, secrets.
 */
import { attemptVariable } from '../process/process-table.ts';
import type { Offer, WireJobSpec, WireStepSpec } from '../protocol/index.ts';

const passedThrough = ['PATH', 'HOME', 'LANG', 'TMPDIR'] as const;

export interface EnvironmentOptions {
  readonly host: Readonly<Record<string, string | undefined>>;
  readonly offer: Offer;
  readonly spec: WireJobSpec;
  readonly step: WireStepSpec;
  readonly work: string;
  /** The checkout the run was started from, where the runner has it. */
  readonly sourceDir: string | null;
  readonly secrets: ReadonlyMap<string, string>;
}

export function buildEnvironment(options: EnvironmentOptions): Record<string, string> {
  const { offer, spec, step } = options;
  const basics = passedThrough.flatMap((name) => {
    const value = options.host[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const matrix = Object.entries(spec.matrix).map(([key, value]) => [matrixVariable(key), value] as const);
  return {
    ...Object.fromEntries(basics),
    ...spec.env,
    ...step.env,
    ...Object.fromEntries(matrix),
    CI: 'true',
    FORGEYARD: 'true',
    FORGEYARD_RUN_ID: offer.authority.run,
    FORGEYARD_RUN_NAME: offer.runName,
    FORGEYARD_JOB: offer.jobName,
    FORGEYARD_JOB_ID: offer.authority.job,
    FORGEYARD_JOB_NAME: offer.jobName,
    FORGEYARD_ATTEMPT: String(offer.attemptNumber),
    FORGEYARD_STEP: step.name,
    FORGEYARD_WORKSPACE: options.work,
    ...(options.sourceDir === null ? {} : { FORGEYARD_SOURCE: options.sourceDir }),
    ...Object.fromEntries(options.secrets),
    // The mark by which left-over processes are found is not for a plan or a secret to change.
    [attemptVariable]: offer.authority.attempt,
  };
}

function matrixVariable(key: string): string {
  return `FORGEYARD_MATRIX_${key.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`;
}
