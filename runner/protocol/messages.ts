/**
 * The versioned runner protocol (000 §183-190, §289-290): the same messages travel in-process, over
 * HTTP and over NATS. Requests go from agent to control plane; every request has exactly one reply.
 *
 * Rules:
 *  M1 every state-changing message carries the full authority: run, job, attempt, lease, epoch, runner,
 *     session, spec digest, and a message id under which its reply is kept.
 *  M2 `start` is a question: the workload is launched only on the answer Continue.
 *  M3 runners get durations, never wall-clock times; their own deadline can only be earlier.
 *  M4 a message may arrive any number of times, late, or never (000 §342).
 *  M5 every message fits `messageBytesMax`: what can be longer than that is asked for page by page.
 */
import { z } from 'zod';
import { protocolVersion } from './version.ts';

/** Largest encoded message, in bytes. */
export const messageBytesMax = 256 * 1024;

/**
 * Bytes of inputs that travel with an offer; more are asked for with `inputs`. Together with the largest job spec
 * (128 KiB) they leave a quarter of a message for all the rest.
 */
export const offerInputsBytesMax = 64 * 1024;

const id = z.string().min(1).max(64);
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const boundedText = z.string().max(2048);
const durationMs = z.number().int().nonnegative();

/** What makes a runner message count (000 §34, §290). */
export const authoritySchema = z.object({
  run: id,
  job: id,
  attempt: id,
  lease: id,
  epoch: z.number().int().positive(),
  runner: id,
  session: id,
  specDigest: digest,
});
export type MessageAuthority = z.infer<typeof authoritySchema>;

/** Platform-neutral process end (000 §95): exactly one of `code` and `signal` is not null. */
export const processExitSchema = z.object({ code: z.number().int().nullable(), signal: z.string().max(32).nullable() });
export type ProcessExitReport = z.infer<typeof processExitSchema>;

/** One committed file: content-addressed bytes in the output store, and where it stood in the workspace. */
export const outputRefSchema = z.object({
  path: z.string().min(1).max(1024),
  digest,
  bytes: z.number().int().nonnegative(),
  mode: z.number().int().nonnegative().max(0o777),
});
export type OutputRefReport = z.infer<typeof outputRefSchema>;

/** Outputs of one upstream job, by its node name, to be placed in the workspace. */
export const jobInputsSchema = z.object({ job: z.string().max(256), outputs: z.array(outputRefSchema) });
export type JobInputs = z.infer<typeof jobInputsSchema>;

/** A place in the list of an attempt's inputs: the number of outputs before it. */
const inputsCursor = z.number().int().nonnegative();

export const failureDetailSchema = z.object({
  step: z.string().max(256).nullable(),
  stepIndex: z.number().int().nonnegative().nullable(),
  message: boundedText.nullable(),
});
export type FailureDetailReport = z.infer<typeof failureDetailSchema>;

export const phaseSchema = z.enum(['offered', 'preparing', 'running', 'uploading', 'finished']);
export type LocalPhase = z.infer<typeof phaseSchema>;

const envelope = { version: z.literal(protocolVersion), messageId: id };
const authorised = { ...envelope, authority: authoritySchema };

export const requestSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('hello'),
    ...envelope,
    runner: id,
    session: id,
    name: z.string().max(128),
    /** The process the agent lives in, so that its death can be proven on its machine. */
    host: z.string().max(128).nullable().optional(),
    /** Printable ASCII, so that a fact that lists them stays within its bound of bytes. */
    capabilities: z.array(z.string().regex(/^[!-~]{1,128}$/)).max(64),
    slots: z.number().int().positive().max(1024),
  }),
  /** Asks for up to `max` offers; answered at once, empty when there is nothing. */
  z.object({
    type: z.literal('poll'),
    ...envelope,
    runner: id,
    session: id,
    max: z.number().int().positive().max(1024),
  }),
  z.object({ type: z.literal('accept'), ...authorised }),
  z.object({
    type: z.literal('reject'),
    ...authorised,
    reason: z.enum(['Busy', 'Draining', 'CapabilityChanged', 'DiskPressure', 'LocalFailure']),
    message: boundedText.nullable(),
  }),
  /** Renews many leases at once; the answer says what each attempt is to do. */
  z.object({
    type: z.literal('heartbeat'),
    ...envelope,
    runner: id,
    session: id,
    attempts: z.array(authoritySchema).max(256),
  }),
  /** Asks for the inputs that did not fit the offer, or the page before. Only the current attempt is told. */
  z.object({ type: z.literal('inputs'), ...authorised, after: inputsCursor }),
  z.object({ type: z.literal('start'), ...authorised }),
  z.object({ type: z.literal('finish'), ...authorised, exit: processExitSchema }),
  z.object({
    type: z.literal('complete'),
    ...authorised,
    exit: processExitSchema,
    outputs: z.array(outputRefSchema).max(1024),
    reports: z.array(outputRefSchema).max(1024),
    log: z.string().max(512).nullable(),
  }),
  z.object({
    type: z.literal('fail'),
    ...authorised,
    failureClass: z.string().max(32),
    transient: z.boolean(),
    exit: processExitSchema.nullable(),
    detail: failureDetailSchema,
    reports: z.array(outputRefSchema).max(1024),
    log: z.string().max(512).nullable(),
  }),
  /** The workload was stopped because of an intent. */
  z.object({
    type: z.literal('terminated'),
    ...authorised,
    exit: processExitSchema.nullable(),
    reports: z.array(outputRefSchema).max(1024),
    log: z.string().max(512).nullable(),
  }),
  /** Coalesced, informational, never a fact (000 §117, §118). */
  z.object({
    type: z.literal('progress'),
    ...envelope,
    authority: authoritySchema,
    step: z.string().max(256).nullable(),
    fraction: z.number().min(0).max(1).nullable(),
  }),
  z.object({
    type: z.literal('resync'),
    ...envelope,
    runner: id,
    session: id,
    attempts: z.array(z.object({ authority: authoritySchema, phase: phaseSchema })).max(256),
  }),
  z.object({ type: z.literal('drain'), ...envelope, runner: id, session: id }),
  z.object({ type: z.literal('bye'), ...envelope, runner: id, session: id }),
]);
export type RunnerRequest = z.infer<typeof requestSchema>;
export type RunnerRequestOf<T extends RunnerRequest['type']> = Extract<RunnerRequest, { type: T }>;

/** What an attempt is to do (000 §190). `leaseMs` is the time left, counted from when the server answered. */
export const directiveSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('continue'), leaseMs: durationMs }),
  z.object({ kind: z.literal('cancel'), intent: z.string().max(64), leaseMs: durationMs }),
  z.object({ kind: z.literal('stale') }),
]);
export type Directive = z.infer<typeof directiveSchema>;

export const offerSchema = z.object({
  authority: authoritySchema,
  /** Node name of the job, for people. */
  jobName: z.string().max(256),
  runName: z.string().max(256),
  attemptNumber: z.number().int().positive(),
  offerMs: durationMs,
  leaseTtlMs: durationMs,
  /** A `JobSpec`; the agent recomputes its digest and refuses a mismatch (000 §183). */
  spec: z.record(z.string(), z.unknown()),
  /** Outputs of upstream jobs, as far as they fit; upstream jobs without outputs are left out. */
  inputs: z.array(jobInputsSchema),
  /** Where the rest of the inputs begins; absent when `inputs` holds them all. */
  moreInputs: inputsCursor.optional(),
});
export type Offer = z.infer<typeof offerSchema>;

export const replySchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('welcome'), leaseTtlMs: durationMs, heartbeatEveryMs: durationMs }),
  /** `more`: something that could be offered did not fit; poll again. */
  z.object({ type: z.literal('offers'), offers: z.array(offerSchema), more: z.boolean().optional() }),
  /** `next` is null on the last page. */
  z.object({ type: z.literal('inputs'), inputs: z.array(jobInputsSchema), next: inputsCursor.nullable() }),
  z.object({ type: z.literal('directive'), directive: directiveSchema }),
  z.object({
    type: z.literal('directives'),
    directives: z.array(z.object({ attempt: id, directive: directiveSchema })),
  }),
  z.object({ type: z.literal('ok') }),
  /** The message changes nothing; `code` is one of the rejection codes of machines. */
  z.object({ type: z.literal('rejected'), code: z.string().max(64), message: boundedText }),
]);
export type RunnerReply = z.infer<typeof replySchema>;
