/**
 * What a person writes, in YAML or JSON. `compile.ts` turns it into an `ExecutablePlan`.
 * Every object is strict: a key that is not known is an error, never ignored.
 */
import { z } from 'zod';
import {
  boundedMap,
  capabilitiesSchema,
  durationSchema,
  environmentSchema,
  nameSchema,
  referenceSchema,
  refuse,
  scalarText,
  secretsSchema,
  shellSchema,
  text,
  workspacePathSchema,
} from './plan-fields.ts';
import { planLimits } from './plan-limits.ts';
import { matrixSchema } from './written-matrix.ts';
import { needsSchema } from './written-need.ts';
import { completionAfterIntentSchema, connectivitySchema, retrySchema, timeoutsSchema } from './written-policies.ts';
import { stepSchema } from './written-step.ts';

const short = text(planLimits.textLengthMax.value);

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
