/** What a plan file says about edges: a name, or a map with a condition. */
import { z } from 'zod';
import type { EdgeCondition } from './plan.ts';
import { referenceSchema, refuse } from './plan-fields.ts';
import { planLimits } from './plan-limits.ts';

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
