/**
 * Every bound of the core, with its unit and reason. Plan bounds are in `plan/plan-limits.ts`.
 * A bound is an option where its consequences are local to one deployment; the defaults are here.
 */
export const limits = {
  /** Direct dependents judged in the commit of an end; more would make one commit unbounded (000 §159). */
  inlineDependentsMax: 1_000,
  /** Nodes judged by one follow-up command. */
  judgeBatchMax: 1_000,
  /** Refusals in a row before one infrastructure retry is spent, so that a refusing fleet is noticed. */
  refusalsMax: 5,
  /** Sessions remembered as refusing a job; older ones are forgotten. */
  refusedByMax: 8,
  /** ms a session is passed over for a job it refused, unless another had the chance; ms a failed grant stands back. */
  refusalBackoffMs: 5_000,
  /** ms an offer stays open (000 §38). */
  offerTtlMs: 10_000,
  /** ms a renewal lasts (000 §42). */
  leaseTtlMs: 30_000,
  /** Gap of the control heartbeat that counts as an outage, ms; larger than its interval, smaller than a lease. */
  heartbeatGapMs: 10_000,
  /** Characters of a reason's message. */
  reasonMessageCharsMax: 1_024,
  /** Bytes of one fact, as JSON (003 §216). */
  factBytesMax: 16 * 1024,
  /** Outputs and reports one attempt may commit. */
  outputsMax: 1_024,
  /** Labels of a run. */
  labelsMax: 64,
  /** Priority, either side of 0. */
  priorityMax: 1_000_000,
  /** Commands that may wait in the mailbox of one run; more are refused as Overloaded. */
  mailboxMax: 10_000,
  /** Commands decided together and committed as one. */
  groupCommitMax: 256,
  /** Rows a page may hold. */
  pageMax: 1_000,
  /** Runs held in memory when idle. */
  idleActorsMax: 64,
} as const;

export type Limits = { readonly [K in keyof typeof limits]: number };
