/** What a plan file says about failures, time and silence: retry, timeouts, connectivity. */
import { z } from 'zod';
import { failureClasses, workloadFailureClasses } from '../model/failure-class.ts';
import { durationSchema, optionalDurationSchema, refuse } from './plan-fields.ts';
import { planLimits } from './plan-limits.ts';

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

const otherClasses: ReadonlySet<string> = new Set(
  failureClasses.filter((known) => !workloadFailureClasses.some((each) => each === known)),
);

/** The other classes are known only to say why they are not retried; they are no suggestion. */
const retriedClassSchema = z
  .string()
  .meta({ enum: [...workloadFailureClasses] })
  .superRefine((value, context) => {
    if (!otherClasses.has(value)) return;
    refuse(context, {
      code: 'RetryNotAllowed',
      message: `a failure of class ${value} is not retried by choice`,
      hint: 'infrastructure failures are retried without being named, see infrastructureRetries',
    });
  })
  .pipe(z.enum(workloadFailureClasses));

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

export const completionAfterIntentSchema = z
  .enum(['honor_intent', 'accept_success'])
  .describe('Whether a success that arrives after a cancel still counts. Default honor_intent.');
