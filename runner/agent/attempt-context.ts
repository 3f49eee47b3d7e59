/** What every phase of one attempt works with. */
import type { LeaseKeeper } from '../lease/keeper.ts';
import type { AttemptRecords } from '../process/attempt-records.ts';
import type { ExitGuard } from '../process/exit-guard.ts';
import type { Offer, RunnerRequest, WireJobSpec } from '../protocol/index.ts';
import { protocolVersion } from '../protocol/index.ts';
import type { AgentOptions, AgentTuning } from './agent-options.ts';
import type { AttemptControl, TimeoutKind } from './attempt-control.ts';
import type { Connection } from './connection.ts';

/** Shared by all attempts of an agent. */
export interface AttemptServices {
  readonly options: AgentOptions;
  readonly tuning: AgentTuning;
  readonly connection: Connection;
  readonly keeper: LeaseKeeper;
  readonly records: AttemptRecords;
  readonly exitGuard: ExitGuard;
}

export interface AttemptContext extends AttemptServices {
  readonly offer: Offer;
  readonly spec: WireJobSpec;
  readonly control: AttemptControl;
  /** Phase messages so far, to be repeated when the control plane says it missed one. */
  readonly sent: RunnerRequest[];
}

export function attemptId(context: Pick<AttemptContext, 'offer'>): string {
  return context.offer.authority.attempt;
}

/** The part every state-changing message has in common (protocol M1). */
export function authorised({ options, offer }: Pick<AttemptContext, 'options' | 'offer'>) {
  return { version: protocolVersion, messageId: options.ids(), authority: offer.authority } as const;
}

export async function failpoint(context: AttemptContext, point: Parameters<NonNullable<AgentOptions['failpoint']>>[0]) {
  await context.options.failpoint?.(point, attemptId(context));
}

/** Halts the attempt after `ms`; null never does. */
export function startTimeout(context: AttemptContext, timeout: TimeoutKind, ms: number | null): () => void {
  if (ms === null) return () => undefined;
  return context.options.clock.setTimer(() => context.control.halt({ kind: 'timeout', timeout, ms }), ms);
}

/** Time to end a workload in: the plan's grace, but early enough to report while the lease is held. */
export function terminationGraceMs({ control, options, spec }: AttemptContext): number {
  if (control.lost.aborted) return 0;
  const left = control.deadline() - options.clock.monotonic();
  return Math.max(0, Math.min(spec.timeouts.terminationGraceMs, left - Math.min(1_000, left / 4)));
}
