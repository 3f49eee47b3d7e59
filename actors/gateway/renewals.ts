/**
 * Renewals (000 §41-43, §188-190): one compare-and-set per lease row, durable before it is answered, past the run's
 * mailbox. The answer carries the job's intent, so a cancel reaches a runner even if every push is lost.
 */
import type { RunId } from '../../machines/index.ts';
import type { Directive, MessageAuthority } from '../../runner/protocol/index.ts';
import type { Renewal, RenewalOutcome } from '../../store/index.ts';
import type { Directory } from '../directory.ts';
import type { Ports } from '../ports.ts';
import { toAuthority } from './wire.ts';

type RenewalPorts = Ports & { readonly ensureBeat: () => Promise<void> };

export async function renewAttempts(
  ports: RenewalPorts,
  directory: Directory,
  sender: { readonly runner: string; readonly session: string },
  attempts: readonly MessageAuthority[],
): Promise<{ attempt: string; directive: Directive }[]> {
  // Nothing is judged expired before an outage has been credited.
  await ports.ensureBeat();
  const own = attempts.filter((one) => one.session === sender.session && one.runner === sender.runner);
  const outcomes = await renewWithCredit(ports, directory, own);
  const now = ports.store.now();
  const directives = new Map<string, Directive>();
  for (const [place, wire] of own.entries()) {
    const outcome = outcomes[place];
    if (outcome?.kind === 'renewed')
      directory.peek(wire.run as RunId)?.noteRenewal(toAuthority(wire).lease, outcome.expiresAt);
    directives.set(wire.attempt, outcome === undefined ? { kind: 'stale' } : directiveOf(outcome, now));
  }
  return attempts.map((one) => ({ attempt: one.attempt, directive: directives.get(one.attempt) ?? { kind: 'stale' } }));
}

/** A lease that looks expired may have credit coming: the run is given its credits, then it is tried once more. */
async function renewWithCredit(
  ports: RenewalPorts,
  directory: Directory,
  attempts: readonly MessageAuthority[],
): Promise<readonly RenewalOutcome[]> {
  const renewals = attempts.map(renewalOf);
  const first = await ports.store.renew(renewals);
  const expired = renewals.filter((_, place) => first[place]?.kind === 'expired');
  if (expired.length === 0) return first;
  for (const run of new Set(expired.map((one) => one.runId))) await directory.actor(run).applyCredits();
  const second = await ports.store.renew(expired);
  let next = 0;
  return first.map((outcome) => {
    if (outcome.kind !== 'expired') return outcome;
    next += 1;
    return second[next - 1] ?? outcome;
  });
}

function renewalOf(wire: MessageAuthority): Renewal {
  const { job, attempt, lease, epoch, session } = toAuthority(wire);
  return { runId: wire.run as RunId, jobId: job, attempt, lease, epoch, session };
}

function directiveOf(outcome: RenewalOutcome, now: number): Directive {
  if (outcome.kind !== 'renewed') return { kind: 'stale' };
  const leaseMs = Math.max(0, outcome.expiresAt - now);
  return outcome.intent === null
    ? { kind: 'continue', leaseMs }
    : { kind: 'cancel', intent: outcome.intent.kind, leaseMs };
}
