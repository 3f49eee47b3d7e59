/** What a decision may know besides the state of the run: everything is a parameter (000 §242, §243). */
import type { AttemptInput } from '../charts/attempt.ts';
import { attemptChart } from '../charts/attempt.ts';
import type { Chart } from '../charts/chart.ts';
import type { GateInput } from '../charts/gate.ts';
import { gateChart } from '../charts/gate.ts';
import type { JobInput } from '../charts/job.ts';
import { jobChart } from '../charts/job.ts';
import type { LeaseInput } from '../charts/lease.ts';
import { leaseChart } from '../charts/lease.ts';
import type { RunInput } from '../charts/run.ts';
import { runChart } from '../charts/run.ts';
import type { Limits } from '../limits.ts';
import { limits } from '../limits.ts';
import type { SessionId, Timestamp } from '../model/ids.ts';

export interface DecideContext {
  /** The store's clock. */
  readonly now: Timestamp;
  /** `user:…`, `runner:…` or `system:…`; recorded with what it decides (gates) and in the envelope. */
  readonly actor: string;
  /** Seeded source in [0, 1); drawn at most once per retry. */
  readonly random: () => number;
  /** The newest outage credit this run has been judged against. */
  readonly creditSequence: number;
  readonly isSessionActive: (session: SessionId) => boolean;
  readonly limits: Limits;
  readonly charts: Charts;
}

/** The statecharts a decision runs on; replaced only by mutation tests. */
export interface Charts {
  readonly run: Chart<RunInput>;
  readonly job: Chart<JobInput>;
  readonly attempt: Chart<AttemptInput>;
  readonly lease: Chart<LeaseInput>;
  readonly gate: Chart<GateInput>;
}

export const charts: Charts = {
  run: runChart,
  job: jobChart,
  attempt: attemptChart,
  lease: leaseChart,
  gate: gateChart,
};

/** Fills in what most callers leave at its default. */
export function decideContext(
  given: Pick<DecideContext, 'now' | 'actor' | 'random'> & Partial<DecideContext>,
): DecideContext {
  return { creditSequence: 0, isSessionActive: () => true, limits, charts, ...given };
}
