/**
 * What a person writes, in YAML or JSON. `compile.ts` turns it into an `ExecutablePlan`.
 * Every object is strict: a key that is not known is an error, never ignored.
 */
import { z } from 'zod';
import type { WorkloadFailureClass } from '../model/failure-class.ts';
import { failureClasses, workloadFailureClasses } from '../model/failure-class.ts';
import type { EdgeCondition } from './plan.ts';
import {
  boundedMap,
  capabilitiesSchema,
  durationSchema,
  environmentSchema,
  nameSchema,
  optionalDurationSchema,
  referenceSchema,
  refuse,
  scalarText,
  secretsSchema,
  shellSchema,
  text,
  variableSchema,
  workspacePathSchema,
} from './plan-fields.ts';
import { planLimits } from './plan-limits.ts';

const short = text(planLimits.textLengthMax.value);

const backoffSchema = z
  .union(
    [
      z.literal('none'),
      durationSchema,
      z.strictObject({
        base: durationSchema,
        factor: z.number().min(1).max(planLimits.backoffFactorMax.value).default(2),
        max: durationSchema.optional(),
      }),
    ],
    { error: 'expected "none", a duration, or a map with base, factor and max' },
  )
  .describe('Wait before the next attempt: none, always the same, or growing (with jitter).');

const retriedClassSchema = z.enum(failureClasses).transform((value, context): WorkloadFailureClass => {
  const workload = workloadFailureClasses.find((candidate) => candidate === value);
  if (workload !== undefined) return workload;
  refuse(context, {
    code: 'RetryNotAllowed',
    message: `a failure of class ${value} is not retried by choice`,
    hint: 'infrastructure failures are retried without being named, see infrastructureRetries',
  });
  return z.NEVER;
});

export const retrySchema = z.strictObject({
  attempts: z
    .number()
    .int()
    .min(1)
    .max(planLimits.attemptsMax.value)
    .optional()
    .describe('Attempts for failures of the work itself, the first included. Default 1.'),
  on: z
    .array(retriedClassSchema)
    .optional()
    .describe('Failures that are tried again. Default: UserCommand, TestFailure, CompileFailure.'),
  infrastructureRetries: z
    .number()
    .int()
    .min(0)
    .max(planLimits.infrastructureRetriesMax.value)
    .optional()
    .describe('Failures of the machinery that are survived. Default 3.'),
  backoff: backoffSchema.optional(),
});

export const timeoutsSchema = z.strictObject({
  queue: optionalDurationSchema.optional().describe('Wait for a runner.'),
  preparation: optionalDurationSchema.optional().describe('From acceptance to the first step.'),
  execution: optionalDurationSchema.optional().describe('All steps together.'),
  executionIncludesPreparation: z.boolean().optional(),
  upload: optionalDurationSchema.optional().describe('Keeping the outputs.'),
  grace: durationSchema.optional().describe('Between asking a job to stop and giving up on its runner. Default 10s.'),
});

export const connectivitySchema = z
  .union(
    [
      z.literal('continuous'),
      z
        .strictObject({ grace: durationSchema.optional(), offline: durationSchema.optional() })
        .superRefine((value, context) => {
          if ((value.grace === undefined) !== (value.offline === undefined)) return;
          refuse(context, { code: 'Contradiction', message: 'expected either grace or offline' });
        }),
    ],
    { error: 'expected "continuous", {grace: duration} or {offline: duration}' },
  )
  .describe('How long a runner may work without being heard.');

const completionAfterIntentSchema = z
  .enum(['honor_intent', 'accept_success'])
  .describe('Whether a success that arrives after a cancel still counts. Default honor_intent.');

/** `anyFailure` is short for `failure` on the node and on everything above it. */
export type WrittenCondition = EdgeCondition | 'anyFailure';

export interface WrittenNeed {
  readonly name: string;
  readonly kind: 'job' | 'gate' | 'node';
  readonly condition: WrittenCondition;
  readonly required: boolean;
}

const needObjectSchema = z
  .strictObject({
    job: referenceSchema.optional(),
    gate: referenceSchema.optional(),
    node: referenceSchema.optional(),
    condition: z.enum(['success', 'completed', 'always', 'failure', 'anyFailure']).optional(),
    required: z.boolean().optional(),
  })
  .transform((value, context): WrittenNeed => {
    const named = (['job', 'gate', 'node'] as const).filter((key) => value[key] !== undefined);
    const [kind = 'node'] = named;
    if (named.length !== 1)
      refuse(context, { code: 'Contradiction', message: 'expected exactly one of job, gate and node' });
    if (value.required === false && value.condition !== undefined) {
      refuse(context, {
        code: 'Contradiction',
        path: ['condition'],
        message: '"required: false" takes any end, so a condition beside it says nothing',
      });
    }
    const required = value.required ?? true;
    return { name: value[kind] ?? '', kind, condition: value.condition ?? (required ? 'success' : 'always'), required };
  });

export const needsSchema = z
  .array(
    z.union(
      [
        referenceSchema.transform(
          (name): WrittenNeed => ({ name, kind: 'node', condition: 'success', required: true }),
        ),
        needObjectSchema,
      ],
      { error: 'expected a name, or a map with job, gate or node' },
    ),
  )
  .max(planLimits.needsMax.value);

const stepObjectSchema = z
  .strictObject({
    name: text(planLimits.nameLengthMax.value).min(1).optional(),
    run: text(planLimits.scriptLengthMax.value, 'a script').min(1).optional().describe('A script, run by the shell.'),
    argv: z
      .array(text(planLimits.scriptLengthMax.value))
      .min(1)
      .max(planLimits.argvMax.value)
      .optional()
      .describe('A program and its arguments, run without a shell.'),
    shell: shellSchema.optional().describe('The interpreter of the script. Default ["sh", "-eu"].'),
    env: environmentSchema.optional(),
    workingDirectory: workspacePathSchema.optional(),
    timeout: durationSchema.optional(),
    failureClass: z.enum(['UserCommand', 'TestFailure', 'CompileFailure']).optional(),
  })
  .superRefine((value, context) => {
    if ((value.run === undefined) === (value.argv === undefined)) {
      refuse(context, { code: 'Contradiction', message: 'expected either run (a script) or argv (a list)' });
    }
    if (value.argv !== undefined && value.shell !== undefined) {
      refuse(context, { code: 'Contradiction', path: ['shell'], message: 'argv is run without a shell' });
    }
    if (value.argv?.[0] === '') {
      refuse(context, { code: 'InvalidValue', path: ['argv', 0], message: 'expected the name of a program' });
    }
  });

export type WrittenStep = z.output<typeof stepObjectSchema>;

const stepSchema = z.union(
  [
    text(planLimits.scriptLengthMax.value, 'a script')
      .min(1)
      .transform((run): WrittenStep => ({ run })),
    stepObjectSchema,
  ],
  { error: 'expected a script, or a map with run or argv' },
);

/** What stands in the names of children may not look like the brackets around it. */
const matrixValueSchema = scalarText(planLimits.matrixValueLengthMax.value).superRefine((value, context) => {
  if (/^[^[\],=\p{Cc}]+$/u.test(value)) return;
  refuse(context, { code: 'InvalidValue', message: 'expected a text without "[", "]", "," and "="' });
});

const combinationSchema = boundedMap(variableSchema, matrixValueSchema, planLimits.matrixAxesMax.value);

export const matrixSchema = z.strictObject({
  axes: boundedMap(
    variableSchema,
    z.array(matrixValueSchema).min(1).max(planLimits.matrixValuesMax.value),
    planLimits.matrixAxesMax.value,
  ).describe('Every combination of their values is one job.'),
  include: z
    .array(combinationSchema)
    .max(planLimits.matrixValuesMax.value)
    .default([])
    .describe('Further combinations.'),
  exclude: z
    .array(combinationSchema)
    .max(planLimits.matrixExcludesMax.value)
    .default([])
    .describe('Combinations to leave out; an axis that is not named matches any value.'),
  failFast: z.boolean().default(false).describe('The first failure ends the other jobs of the matrix.'),
});
export type WrittenMatrix = z.output<typeof matrixSchema>;

const conditionSchema = z
  .union(
    [
      z.boolean(),
      z.strictObject({
        holds: z.boolean().default(false),
        reason: z.enum(['ConditionFalse', 'PlanPruned', 'Policy']).default('ConditionFalse'),
        message: short.optional(),
      }),
    ],
    { error: 'expected true, false, or a map with reason and message' },
  )
  .describe('Evaluated by whoever wrote the plan; a job whose condition is false is skipped from the start.');

const globsSchema = z.array(workspacePathSchema).max(planLimits.globsMax.value);

export const jobSchema = z
  .strictObject({
    steps: z.array(stepSchema).min(1).max(planLimits.stepsMax.value),
    needs: needsSchema.default([]),
    matrix: matrixSchema.optional(),
    env: environmentSchema.default({}),
    shell: shellSchema.optional(),
    workingDirectory: workspacePathSchema.optional(),
    outputs: globsSchema.default([]).describe('Files to keep; each glob must match when the job succeeds.'),
    reports: globsSchema.default([]).describe('Files to keep whatever the end; a glob may match nothing.'),
    inputsFrom: z
      .array(referenceSchema)
      .max(planLimits.needsMax.value)
      .optional()
      .describe('Jobs whose outputs are placed into the workspace. Default: those needed directly that have any.'),
    secrets: secretsSchema.default({}).describe('References: env:NAME, file:PATH or command:NAME.'),
    capabilities: capabilitiesSchema.optional().describe('What a runner must offer.'),
    condition: conditionSchema.default(true),
    required: z.boolean().default(true).describe('Whether the end of the run depends on this job.'),
    failureImpact: z
      .enum(['blocking', 'allowed'])
      .default('blocking')
      .describe('allowed: a failure is shown, and nothing stops.'),
    retry: retrySchema.optional(),
    timeouts: timeoutsSchema.optional(),
    connectivity: connectivitySchema.optional(),
    completionAfterIntent: completionAfterIntentSchema.optional(),
    cacheKey: short.min(1).optional().describe('Jobs with the same key and the same content may share a result.'),
  })
  .superRefine((value, context) => {
    for (const name of Object.keys(value.secrets)) {
      if (!Object.hasOwn(value.env, name)) continue;
      refuse(context, {
        code: 'Contradiction',
        path: ['secrets', name],
        message: `"${name}" stands in env and in secrets`,
      });
    }
  });
export type WrittenJob = z.output<typeof jobSchema>;

export const gateSchema = z.strictObject({
  needs: needsSchema.default([]),
  approvers: z
    .array(text(planLimits.nameLengthMax.value, 'the id of an actor').min(1))
    .max(planLimits.approversMax.value)
    .default([])
    .describe('Who may decide. Default: whoever has the permission.'),
  expiry: durationSchema.optional().describe('Counted from when the gate opens.'),
  onExpiry: z.enum(['reject', 'satisfy']).default('reject'),
  description: short.optional(),
});
export type WrittenGate = z.output<typeof gateSchema>;

const headerShape = {
  $schema: short.optional().describe('For editors; without meaning here.'),
  version: z.literal(1).default(1),
  project: nameSchema,
  name: nameSchema,
  deadline: durationSchema.optional().describe('Ends the run, whatever is still going on.'),
  failFast: z.boolean().default(false).describe('The first failure of a required job ends the others.'),
  labels: boundedMap(
    z
      .string()
      .max(planLimits.nameLengthMax.value)
      .regex(/^[A-Za-z_][A-Za-z0-9_./-]*$/, { error: 'expected the name of a label' }),
    scalarText(planLimits.textLengthMax.value),
    planLimits.labelsMax.value,
  ).default({}),
  priority: z
    .number()
    .int()
    .min(-planLimits.priorityMax.value)
    .max(planLimits.priorityMax.value)
    .default(0)
    .describe('Higher goes first.'),
  concurrency: z
    .strictObject({ group: short.min(1), supersede: z.boolean().default(false) })
    .optional()
    .describe('With supersede, a new run of the group ends the older ones.'),
  retry: retrySchema.optional().describe('For every job that does not say otherwise, entry by entry.'),
  defaults: z
    .strictObject({
      env: environmentSchema.default({}),
      shell: shellSchema.optional(),
      workingDirectory: workspacePathSchema.optional(),
      capabilities: capabilitiesSchema.default([]),
      timeouts: timeoutsSchema.optional(),
      connectivity: connectivitySchema.optional(),
      completionAfterIntent: completionAfterIntentSchema.optional(),
    })
    .optional()
    .describe('For every job that does not say otherwise.'),
};

/** Jobs and gates are judged one by one, so that a mistake in one of them hides nothing in the others. */
export const headerSchema = z.strictObject({
  ...headerShape,
  jobs: z.record(z.string(), z.unknown()),
  gates: z.record(z.string(), z.unknown()).default({}),
});
export type WrittenHeader = z.output<typeof headerSchema>;

export const planFileSchema = z
  .strictObject({
    ...headerShape,
    jobs: z.record(nameSchema, jobSchema),
    gates: z.record(nameSchema, gateSchema.nullable()).default({}),
  })
  .meta({ title: 'Forgeyard plan' });

/** A plan document as the types of TypeScript see it, before any check. */
export type PlanFile = z.input<typeof planFileSchema>;
