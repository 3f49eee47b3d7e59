/**
 * What a runner needs to execute one job, as it travels in an offer (000 §181, §183). The planner owns
 * the type of the same name; this is its wire form, and a test holds the two equal. Unknown fields are
 * refused: a runner that cannot interpret all of a spec must not execute part of it.
 */
import { z } from 'zod';

const name = z.string().min(1).max(256);
const durationMs = z.number().int().positive();
const text = z.string();
const strings = z.record(z.string(), z.string());

export const stepCommandSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('script'), script: text, shell: z.array(text).min(1) }),
  z.strictObject({ kind: z.literal('argv'), argv: z.array(text).min(1) }),
]);

export const stepSpecSchema = z.strictObject({
  name,
  command: stepCommandSchema,
  env: strings,
  workingDirectory: text.nullable(),
  timeoutMs: durationMs.nullable(),
  failureClass: z.enum(['UserCommand', 'TestFailure', 'CompileFailure']).nullable(),
});
export type WireStepSpec = z.infer<typeof stepSpecSchema>;

export const jobTimeoutsSchema = z.strictObject({
  queueMs: durationMs.nullable(),
  preparationMs: durationMs.nullable(),
  executionMs: durationMs.nullable(),
  executionIncludesPreparation: z.boolean(),
  uploadMs: durationMs.nullable(),
  terminationGraceMs: durationMs,
});

export const connectivitySchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('continuous') }),
  z.strictObject({ kind: z.literal('grace'), extraMs: durationMs }),
  z.strictObject({ kind: z.literal('offline_authorized'), extraMs: durationMs }),
]);

export const jobSpecSchema = z.strictObject({
  steps: z.array(stepSpecSchema).min(1),
  env: strings,
  workingDirectory: text.nullable(),
  outputs: z.array(text),
  reports: z.array(text),
  secrets: strings,
  capabilities: z.array(text),
  matrix: strings,
  inputsFrom: z.array(text),
  timeouts: jobTimeoutsSchema,
  connectivity: connectivitySchema,
});
export type WireJobSpec = z.infer<typeof jobSpecSchema>;
