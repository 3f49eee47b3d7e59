/** One line for each fact that says something to a person. What failed and what is merely tried again look different. */
import type { Fact, GateFact, JobFact, RunAggregate } from '../../../machines/index.ts';
import { budgetOf } from '../../../machines/index.ts';
import type { StoredFact } from '../../../store/index.ts';
import { durationText, reasonText, timeOfDay } from '../../views/index.ts';
import type { Paint, Style } from '../output/paint.ts';
import { printable } from '../output/printable.ts';
import { approveCommand } from './approve-command.ts';
import type { ToldAttempt } from './attempt-memory.ts';
import { createAttemptMemory } from './attempt-memory.ts';

interface Line {
  readonly subject: string;
  readonly text: string;
  readonly style: Style | null;
}

/** Facts are given in their order; the answer is null for those that are steps on the way (leases, phases). */
export type FactLines = (stored: StoredFact, aggregate: RunAggregate) => string | null;

export function createFactLines(paint: Paint): FactLines {
  const attempts = createAttemptMemory();
  return (stored, aggregate) => {
    attempts.note(stored);
    const { fact } = stored;
    const line = lineOf(fact, aggregate, fact.entity === 'job' ? attempts.newest(fact.index, aggregate) : null);
    if (line === null) return null;
    const time = paint('dim', timeOfDay(stored.occurredAt));
    const text = printable(line.text);
    return `${time}  ${printable(line.subject)}  ${line.style === null ? text : paint(line.style, text)}`;
  };
}

function lineOf(fact: Fact, aggregate: RunAggregate, attempt: ToldAttempt | null): Line | null {
  const nameOf = (index: number): string => aggregate.index.plan.nodes[index]?.name ?? '?';
  switch (fact.entity) {
    case 'run':
      return runLine(fact.type, reasonText(fact.reason), aggregate);
    case 'job':
      return jobLine(fact, nameOf(fact.index), aggregate, attempt);
    case 'gate':
      return gateLine(fact, nameOf(fact.index), aggregate);
    case 'attempt':
      return fact.type === 'LateAttemptResultRejected'
        ? {
            subject: nameOf(fact.index),
            text: 'a late result of an earlier attempt came and was not counted',
            style: 'dim',
          }
        : null;
    case 'lease':
      return null;
    default:
      return fact satisfies never;
  }
}

function runLine(type: Fact['type'], reason: string, aggregate: RunAggregate): Line | null {
  const subject = 'run';
  switch (type) {
    case 'RunCancelling':
      return { subject, text: `is being ended: ${aggregate.run.intent?.kind ?? reason}`, style: 'yellow' };
    case 'RunSucceeded':
      return { subject, text: 'succeeded', style: 'green' };
    case 'RunFailed':
      return { subject, text: `failed: ${reason}`, style: 'red' };
    case 'RunTimedOut':
      return { subject, text: 'timed out: its deadline has passed', style: 'red' };
    case 'RunCancelled':
      return { subject, text: `cancelled: ${reason}`, style: 'yellow' };
    case 'RunSuperseded':
      return { subject, text: 'superseded by a newer run of its group', style: 'yellow' };
    case 'RunPriorityChanged':
      return { subject, text: `has priority ${aggregate.run.priority} now`, style: null };
    case 'OutageCreditGranted':
      return { subject, text: 'went on after an outage; leases were extended', style: 'dim' };
    default:
      return null;
  }
}

function gateLine(fact: GateFact, subject: string, aggregate: RunAggregate): Line | null {
  const reason = reasonText(fact.reason);
  switch (fact.type) {
    case 'GateOpened':
      return { subject, text: `waits for a decision: ${approveCommand(aggregate.run.id, subject)}`, style: 'yellow' };
    case 'GateSatisfied':
      return { subject, text: `gate satisfied: ${reason}`, style: 'green' };
    case 'GateRejected':
      return { subject, text: `gate rejected: ${reason}`, style: 'red' };
    case 'GateCancelled':
      return { subject, text: `gate closed: ${reason}`, style: 'dim' };
    default:
      return fact.type satisfies never;
  }
}

function jobLine(fact: JobFact, subject: string, aggregate: RunAggregate, attempt: ToldAttempt | null): Line | null {
  const job = aggregate.job(fact.index);
  const reason = reasonText(fact.reason);
  switch (fact.type) {
    case 'JobStarted': {
      const number = attempt?.number ?? job.attemptCount;
      return { subject, text: number > 1 ? `runs, attempt ${number}` : 'runs', style: 'blue' };
    }
    case 'JobSucceeded':
      return {
        subject,
        text: fact.reason.code === 'ActionCacheHit' ? 'succeeded (cache hit)' : 'succeeded',
        style: 'green',
      };
    case 'JobFailed':
      return { subject, text: `failed: ${failureText(fact, attempt)}${allowed(job.failureImpact)}`, style: 'red' };
    case 'JobTimedOut':
      return { subject, text: `timed out: ${reason}${allowed(job.failureImpact)}`, style: 'red' };
    case 'JobCancelled':
      return { subject, text: `cancelled: ${reason}`, style: 'yellow' };
    case 'JobSkipped':
      return { subject, text: `skipped: ${reason}`, style: 'dim' };
    case 'JobLost':
      return { subject, text: 'its runner was lost (infrastructure, not the workload)', style: 'magenta' };
    case 'JobRetryScheduled':
      return { subject, text: retryText(fact, attempt), style: 'magenta' };
    case 'JobReturnedToQueue':
      return { subject, text: `back in the queue: ${reason}`, style: 'dim' };
    case 'JobTerminationRequested':
      return { subject, text: `is asked to stop: ${fact.set.intent?.kind ?? reason}`, style: 'yellow' };
    case 'JobEligible':
      return fact.from === 'Pending' || fact.from === 'RetryWaiting'
        ? null
        : { subject, text: retryText(fact, attempt), style: 'magenta' };
    case 'JobLeased':
    case 'JobPreparing':
    case 'JobUploadingOutputs':
      return null;
    default:
      return fact.type satisfies never;
  }
}

const allowed = (impact: 'blocking' | 'allowed'): string =>
  impact === 'allowed' ? ' (allowed, dependents go on)' : '';

function retryText(fact: JobFact, attempt: ToldAttempt | null): string {
  const notBefore = fact.set.retryNotBefore ?? null;
  const when = notBefore === null ? 'at once' : `in ${durationText(notBefore - fact.at)}`;
  return `attempt failed, job retrying ${when}: ${failureText(fact, attempt)}`;
}

function failureText(fact: JobFact, last: ToldAttempt | null): string {
  const failureClass = fact.set.failureClass ?? last?.failureClass ?? null;
  const isInfrastructure = failureClass !== null && budgetOf(failureClass) === 'infrastructure';
  const { step = null, message = null } = last?.failureDetail ?? {};
  const parts = [
    isInfrastructure ? 'infrastructure' : null,
    failureClass ?? reasonText(fact.reason),
    step === null ? null : `step "${step}"`,
    message,
  ];
  return parts.filter((part) => part !== null).join(', ');
}
