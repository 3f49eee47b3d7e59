/** May this agent take this offer? Every refusal names its reason; refusing costs the job nothing (000 §39). */
import type { Offer, RunnerRequestOf, WireJobSpec } from '../protocol/index.ts';
import { jobSpecSchema } from '../protocol/index.ts';
import { isPlainId } from '../workspace/workspace.ts';
import type { AgentOptions, AgentTuning } from './agent-options.ts';
import { isDiskFull } from './disk-room.ts';

export type RefusalReason = RunnerRequestOf<'reject'>['reason'];
export type Judged =
  | { readonly kind: 'takes'; readonly spec: WireJobSpec }
  | { readonly kind: 'refuses'; readonly reason: RefusalReason; readonly message: string | null };

export interface JudgeOptions {
  readonly options: AgentOptions;
  readonly tuning: AgentTuning;
  readonly draining: boolean;
  readonly slotsFree: number;
}

export async function judgeOffer(
  offer: Offer,
  { options, tuning, draining, slotsFree }: JudgeOptions,
): Promise<Judged> {
  if (draining) return refuse('Draining');
  if (slotsFree <= 0) return refuse('Busy');
  const spec = jobSpecSchema.safeParse(offer.spec);
  if (!spec.success)
    return refuse('LocalFailure', `the job spec is not understood: ${spec.error.issues[0]?.path.join('.')}`);
  // Over the spec as received: a field this version does not know must not pass unnoticed.
  const digest = options.digestOf(offer.spec);
  if (digest !== offer.authority.specDigest) return refuse('LocalFailure', `the job spec has the digest ${digest}`);
  if (!isPlainId(offer.authority.attempt)) return refuse('LocalFailure', 'the attempt id is malformed');
  const missing = spec.data.capabilities.filter((capability) => !options.capabilities.includes(capability));
  if (missing.length > 0) return refuse('CapabilityChanged', `missing: ${missing.join(', ')}`.slice(0, 1_000));
  if (await isDiskFull(options, tuning)) return refuse('DiskPressure');
  return { kind: 'takes', spec: spec.data };
}

function refuse(reason: RefusalReason, message: string | null = null): Judged {
  return { kind: 'refuses', reason, message };
}
