/** What a plan file says about a matrix; `matrix.ts` makes combinations of it. */
import { z } from 'zod';
import { boundedMap, refuse, scalarText, variableSchema } from './plan-fields.ts';
import { planLimits } from './plan-limits.ts';

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
