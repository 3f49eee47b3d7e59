/** What must hold for every single command, whatever it was (000 §286-288, §376). */
import type { Authority, Changes, Command, Decision, JobIntent, RunAggregate } from '../../machines/index.ts';
import { isAttemptTerminal, isGateEnded, isJobEnded, isLeaseLive, isRunTerminal } from '../../machines/index.ts';
import type { World } from '../core/index.ts';
import { sameValue } from '../core/index.ts';
import { failFastViolations, idleGates } from './fail-fast-oracle.ts';

/** The rows as they were before a command; rows are never written to, so keeping them is enough. */
export interface Before {
  readonly run: RunAggregate['run'];
  readonly nodes: readonly RunAggregate['nodes'][number][];
  /** Whether the message had authority, judged from the archive and not by the code under test. */
  readonly hadAuthority: boolean;
}

export function before(world: World, command: Command): Before {
  return {
    run: world.state.run,
    nodes: [...world.state.nodes],
    hadAuthority: 'authority' in command && isAuthoritative(world, command.authority),
  };
}

function isAuthoritative(world: World, message: Authority): boolean {
  const row = world.state.nodes.find(({ id }) => id === message.job);
  const attempt = world.attempts.get(message.attempt);
  const lease = world.leases.get(message.lease);
  if (row?.kind !== 'job' || attempt === undefined || lease === undefined) return false;
  const until = lease.state === 'Offered' ? lease.offerExpiresAt : lease.state === 'Held' ? lease.expiresAt : 0;
  return (
    until > world.now &&
    attempt.jobId === row.id &&
    lease.jobId === row.id &&
    lease.attemptId === attempt.id &&
    !isAttemptTerminal(attempt.state) &&
    lease.epoch === message.epoch &&
    lease.runner === message.runner &&
    lease.session === message.session &&
    attempt.specDigest === message.specDigest &&
    row.specDigest === message.specDigest
  );
}

export function stepViolations(world: World, old: Before, command: Command, decision: Decision): readonly string[] {
  if (decision.outcome === 'no-op') return [];
  if (decision.outcome === 'rejected') return decision.audit === null ? [] : wrongAudit(decision.audit);
  const { changes } = decision;
  return [
    ...('authority' in command && !old.hadAuthority ? [`${command.type} without authority was accepted`] : []),
    ...(changes.facts.length === 0 && changes.leases.length === 0 ? [`${command.type} was accepted for nothing`] : []),
    ...reopened(old, changes),
    ...(world.state.run.intent === null
      ? [...failFastViolations(world.plan, world.state, changes), ...idleGates(world.plan, world.state)]
      : []),
    ...afterIntent(old, changes),
    ...changes.jobs.flatMap((row) => {
      const planned = world.state.index.job(row.index);
      const previous = old.nodes[row.index];
      return [
        ...(row.workloadFailures > planned.retry.attemptsMax ? ['the workload budget is overdrawn'] : []),
        ...(row.infrastructureFailures > planned.retry.infrastructureRetriesMax + 1
          ? ['the infrastructure budget is overdrawn']
          : []),
        ...(row.refusals >= world.limits.refusalsMax ? ['refusals are not counted'] : []),
        ...(previous?.kind === 'job' &&
        sinks(previous.intent, row.intent) &&
        row.currentAttempt === previous.currentAttempt
          ? ['an intent sank within one attempt']
          : []),
      ];
    }),
  ];
}

/** A refusal may leave a note on one attempt, and nothing else. */
const wrongAudit = (audit: Changes): readonly string[] =>
  audit.jobs.length + audit.gates.length + audit.leases.length > 0 ||
  audit.attempts.length !== 1 ||
  audit.facts.length !== 1 ||
  audit.facts[0]?.type !== 'LateAttemptResultRejected'
    ? ['a refusal changed more than its note']
    : [];

function reopened(old: Before, changes: Changes): readonly string[] {
  const ended = (at: number): boolean => {
    const row = old.nodes[at];
    return row !== undefined && (row.kind === 'job' ? isJobEnded(row.state) : isGateEnded(row.state));
  };
  return [
    ...[...changes.jobs, ...changes.gates].filter(({ index }) => ended(index)).map(() => 'an ended node changed'),
    ...(isRunTerminal(old.run.state) && changes.run.state !== old.run.state ? ['an ended run changed'] : []),
  ];
}

const upper = (intent: JobIntent | null): boolean => intent !== null && intent.kind !== 'TimedOut';
const sinks = (old: JobIntent | null, now: JobIntent | null): boolean =>
  (upper(old) && !sameValue(old, now)) || (old !== null && now === null);

const beginnings: ReadonlySet<string> = new Set([
  'JobEligible',
  'JobLeased',
  'JobSkipped',
  'JobRetryScheduled',
  'GateOpened',
]);

/** Nothing new starts while a run has an intent (000 §231-234). */
const afterIntent = (old: Before, changes: Changes): readonly string[] =>
  old.run.intent === null
    ? []
    : changes.facts.filter(({ type }) => beginnings.has(type)).map(({ type }) => `${type} after an intent`);

/** Attempt numbers and epochs count up by one, and no id comes twice. */
export function wrongAttempts(world: World): readonly string[] {
  const wrong: string[] = [];
  const last = new Map<string, number>();
  for (const { jobId, number, epoch, leaseId } of world.attempts.values()) {
    const expected = (last.get(jobId) ?? 0) + 1;
    if (number !== expected || epoch !== expected)
      wrong.push(`attempt ${number}, epoch ${epoch} after ${expected - 1}`);
    if (world.leases.get(leaseId)?.epoch !== epoch) wrong.push('an attempt and its lease disagree');
    last.set(jobId, expected);
  }
  const live = new Set<string>();
  for (const { jobId, state } of world.leases.values()) {
    if (!isLeaseLive(state)) continue;
    if (live.has(jobId)) wrong.push('two live leases for one job');
    live.add(jobId);
  }
  return wrong;
}
