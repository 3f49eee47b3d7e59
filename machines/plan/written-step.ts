/** What a plan file says about a step: a script, or a map with a script or an argument list. */
import { z } from 'zod';
import { durationSchema, environmentSchema, refuse, shellSchema, text, workspacePathSchema } from './plan-fields.ts';
import { planLimits } from './plan-limits.ts';

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

export const stepSchema = z.union(
  [
    text(planLimits.scriptLengthMax.value, 'a script')
      .min(1)
      .transform((run): WrittenStep => ({ run })),
    stepObjectSchema,
  ],
  { error: 'expected a script, or a map with run or argv' },
);
