/**
 * The small pieces of a plan file: names, texts, durations, references. `plan-file.ts` puts them
 * together. Checks a schema cannot express carry their problem code in the issue (`refuse`).
 */
import { z } from 'zod';
import { durationPattern, formatDuration, parseDuration } from './duration.ts';
import { planLimits } from './plan-limits.ts';
import type { PlanProblemCode } from './problem.ts';

export interface Refusal {
  readonly code: PlanProblemCode;
  readonly message: string;
  readonly hint?: string;
  readonly path?: readonly (string | number)[];
}

/** The part of zod's context that checks need. */
export interface IssueSink {
  addIssue(issue: {
    code: 'custom';
    message: string;
    params: { problem: PlanProblemCode; hint: string | null };
    path: (string | number)[];
  }): void;
}

export function refuse(context: IssueSink, refusal: Refusal): void {
  context.addIssue({
    code: 'custom',
    message: refusal.message,
    params: { problem: refusal.code, hint: refusal.hint ?? null },
    path: [...(refusal.path ?? [])],
  });
}

/** NUL would cut an argument short, half a surrogate pair has no bytes. */
function isCleanText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

export function text(lengthMax: number, words = 'a text') {
  return z
    .string({ error: `expected ${words}` })
    .max(lengthMax)
    .superRefine((value, context) => {
      if (isCleanText(value)) return;
      refuse(context, { code: 'ForbiddenCharacter', message: 'the text contains a NUL or half a surrogate pair' });
    });
}

export const namePattern = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const nameWords = 'a name: letters, digits, "_", "." and "-", beginning with a letter';

export const nameSchema = z
  .string({ error: `expected ${nameWords}` })
  .max(planLimits.nameLengthMax.value)
  .regex(namePattern, { error: `expected ${nameWords}` });

/** A name in a reference: also the child of a matrix, such as `test[node=24]`. */
export const referenceSchema = text(planLimits.nodeNameLengthMax.value, 'the name of a job or gate').min(1);

export const variableSchema = z
  .string()
  .max(planLimits.nameLengthMax.value)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, { error: 'expected the name of an environment variable' });

/** `FORGEYARD_*` tells a step who it is; a plan must not be able to lie about that. */
const stepVariableSchema = variableSchema.superRefine((name, context) => {
  if (!name.toUpperCase().startsWith('FORGEYARD_')) return;
  refuse(context, { code: 'ReservedName', message: 'names beginning with FORGEYARD_ are set by the runner' });
});

/** YAML reads `24` and `true` as number and boolean; where a text is meant, both are taken as written. */
export function scalarText(lengthMax: number) {
  return z
    .union([text(lengthMax), z.number(), z.boolean()], { error: 'expected a text, a number or a boolean' })
    .transform((value) => String(value));
}

const durationWords = 'a duration such as "500ms", "30s", "10m", "2h", or a number of milliseconds';

export const durationSchema = z
  .union([z.number(), z.string().meta({ pattern: durationPattern })], { error: `expected ${durationWords}` })
  .transform((value, context) => {
    const milliseconds = typeof value === 'number' ? value : parseDuration(value);
    if (milliseconds === null) {
      refuse(context, { code: 'InvalidValue', message: `expected ${durationWords}` });
      return z.NEVER;
    }
    const { durationMinMs, durationMaxMs } = planLimits;
    if (Number.isInteger(milliseconds) && milliseconds >= durationMinMs.value && milliseconds <= durationMaxMs.value) {
      return milliseconds;
    }
    refuse(context, {
      code: 'ValueOutOfRange',
      message: `expected whole milliseconds from ${formatDuration(durationMinMs.value)} to ${formatDuration(durationMaxMs.value)}`,
    });
    return z.NEVER;
  })
  .meta({ description: `Expected: ${durationWords}.` });

export const optionalDurationSchema = z
  .union([z.literal('none'), durationSchema], { error: `expected ${durationWords}, or "none"` })
  .transform((value) => (value === 'none' ? null : value));

/** A path or glob below the workspace (000 §290: nothing a runner commits lies outside). */
export const workspacePathSchema = text(planLimits.textLengthMax.value, 'a path below the workspace')
  .min(1)
  .superRefine((value, context) => {
    const parts = value.split('/');
    if (!value.startsWith('/') && !value.includes('\\') && !parts.includes('..')) return;
    refuse(context, {
      code: 'UnsafePath',
      message: 'expected a path below the workspace',
      hint: 'write it relative to the workspace, with "/" and without ".."',
    });
  });

/** A map whose size is bounded. */
export function boundedMap<Key extends z.ZodString, Value extends z.ZodType>(key: Key, value: Value, countMax: number) {
  return z.record(key, value).superRefine((entries, context) => {
    if (Object.keys(entries).length <= countMax) return;
    refuse(context, { code: 'TooMany', message: `expected at most ${countMax} entries` });
  });
}

const secretReference = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|file:.+|command:[A-Za-z0-9_][A-Za-z0-9_.-]*)$/s;

/** The message never repeats the value: it may be the secret itself. */
const secretReferenceSchema = text(planLimits.textLengthMax.value, 'a reference to a secret').superRefine(
  (value, context) => {
    if (secretReference.test(value)) return;
    refuse(context, {
      code: 'SecretLiteral',
      message: 'a secret must be a reference, never the value itself',
      hint: 'write env:NAME, file:PATH or command:NAME; the runner resolves it',
    });
  },
);

export const environmentSchema = boundedMap(
  stepVariableSchema,
  scalarText(planLimits.environmentValueLengthMax.value),
  planLimits.environmentMax.value,
);

export const secretsSchema = boundedMap(stepVariableSchema, secretReferenceSchema, planLimits.secretsMax.value);

export const capabilitiesSchema = z
  .array(
    text(planLimits.capabilityLengthMax.value, 'a capability').regex(/^[A-Za-z0-9][A-Za-z0-9_.:/=+@-]*$/, {
      error: 'expected a capability, such as linux or gpu:a100',
    }),
  )
  .max(planLimits.capabilitiesMax.value);

export const shellSchema = z.array(text(planLimits.textLengthMax.value)).min(1).max(planLimits.argvMax.value);
