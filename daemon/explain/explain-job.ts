/** Why a job is where it is (000 §314). */
import type { JobRow, PlannedJob } from '../../machines/index.ts';
import { reasonSentences } from '../../machines/index.ts';
import { publicId } from '../ids/index.ts';
import { clockText, durationText } from '../views/index.ts';
import type { Explanation, JobEvidence } from './explanation.ts';
import { address } from './explanation.ts';
import { attemptText, budgetText, noRetryText } from './failures.ts';
import { frontier, limited, nextAbout, waitingFor } from './needs.ts';
import { explainQueue } from './queue.ts';

type Answer = Pick<Explanation, 'because' | 'next'>;

export function explainJob(job: JobRow, evidence: JobEvidence): Explanation {
  const planned = evidence.loaded.plan.nodes[job.index];
  if (planned?.kind !== 'job') throw new Error(`${job.node} is no job of its plan`);
  const { because, next } = answer(job, planned, evidence);
  return { subject: `job ${job.node}`, state: job.state, because, next };
}

function answer(job: JobRow, planned: PlannedJob, evidence: JobEvidence): Answer {
  switch (job.state) {
    case 'Pending':
      return pending(job, evidence);
    case 'RetryWaiting':
      return retrying(job, planned, evidence);
    case 'Eligible':
      return eligible(job, planned, evidence);
    case 'Leased':
      return leased(job, evidence);
    case 'Preparing':
    case 'Running':
    case 'UploadingOutputs':
      return active(job, planned, evidence);
    case 'Lost':
      return {
        because: ['its runner stopped renewing the lease: infrastructure, not the workload', budgetText(job, planned)],
        next: ['the control plane decides whether it is tried again, as soon as a process carries the run'],
      };
    case 'Succeeded':
      return {
        because: [
          job.executionSource === 'CacheHit'
            ? reasonSentences.ActionCacheHit
            : 'its outputs were verified and committed',
        ],
        next: [],
      };
    case 'Failed':
    case 'TimedOut':
      return failed(job, planned, evidence);
    case 'Cancelled':
      return { because: [reasonLine(job), ...intentLines(evidence)], next: [rerun(evidence)] };
    case 'Skipped':
      return skipped(job, evidence);
    default:
      return job.state satisfies never;
  }
}

function pending(job: JobRow, evidence: JobEvidence): Answer {
  const { open, decided, total } = waitingFor(evidence, job.index);
  if (open.length === 0) {
    return {
      because: ['everything it needs has ended, and its verdict is due'],
      next: ['a process that carries the run gives the verdict', rescue(evidence)],
    };
  }
  const done = decided === 0 ? [] : [`${decided} of its ${total} needs are decided already`];
  return {
    because: [...open, ...done],
    next: limited(frontier(evidence, job.index).map((row) => nextAbout(row, evidence))),
  };
}

function retrying(job: JobRow, planned: PlannedJob, evidence: JobEvidence): Answer {
  const last = evidence.attempts.at(-1);
  const left = (job.retryNotBefore ?? evidence.now) - evidence.now;
  return {
    because: [
      last === undefined ? reasonLine(job) : `${attemptText(last)}; the job itself has not failed`,
      budgetText(job, planned),
    ],
    next: [
      left > 0
        ? `the next attempt may begin in ${durationText(left)} (${clockText(job.retryNotBefore ?? evidence.now)})`
        : 'the delay is over: a process that carries the run puts it back into the queue',
    ],
  };
}

function eligible(job: JobRow, planned: PlannedJob, evidence: JobEvidence): Answer {
  const { because, next } = explainQueue(job, evidence);
  const last = evidence.attempts.at(-1);
  const earlier = last === undefined ? [] : [`${attemptText(last)}; the job is tried again`, budgetText(job, planned)];
  return { because: [...because, ...earlier], next };
}

function leased(job: JobRow, { loaded, now, sessions }: JobEvidence): Answer {
  const lease = loaded.leases.find((each) => each.id === job.currentLease);
  const runner = sessions.find((session) => session.id === lease?.session)?.name ?? 'a runner that is gone';
  const left = (lease?.offerExpiresAt ?? now) - now;
  return {
    because: [`it was offered to ${runner}`],
    next: [
      left > 0
        ? `the runner accepts within ${durationText(left)}, or it goes back into the queue`
        : 'the offer has run out: it goes back into the queue',
    ],
  };
}

function active(job: JobRow, planned: PlannedJob, evidence: JobEvidence): Answer {
  const { loaded, now, sessions } = evidence;
  const attempt = loaded.attempts.find((each) => each.id === job.currentAttempt);
  const lease = loaded.leases.find((each) => each.id === job.currentLease);
  const runner = sessions.find((session) => session.id === lease?.session);
  const doing = { Preparing: 'prepares', Running: 'runs', UploadingOutputs: 'uploads the outputs of' } as const;
  const verb = job.state === 'Preparing' || job.state === 'UploadingOutputs' ? doing[job.state] : doing.Running;
  const because = [
    `${runner?.name ?? 'a runner that is gone'} ${verb} attempt ${job.attemptCount} since ${durationText(now - (job.preparingAt ?? now))}`,
  ];
  const next: string[] = [];
  if (lease !== undefined) {
    const left = lease.expiresAt - now;
    because.push(
      left > 0
        ? `its lease is renewed until ${clockText(lease.expiresAt)} at least`
        : `its lease ran out ${durationText(-left)} ago`,
    );
    if (runner === undefined || left <= 0)
      next.push('it counts as lost and is tried again, as soon as a process carries the run', rescue(evidence));
  }
  if (job.attemptCount > 1) because.push(budgetText(job, planned));
  if (job.intent !== null) {
    because.push(`it was asked to stop (${job.intent.kind}): ${reasonSentences[job.intent.reason]}`);
    if (job.terminateBy !== null) next.push(`it stops, or is given up in ${durationText(job.terminateBy - now)}`);
  }
  const deadline = attempt?.executionDeadlineAt ?? attempt?.preparationDeadlineAt ?? null;
  if (deadline !== null && job.intent === null) next.push(`it times out in ${durationText(deadline - now)}`);
  if (next.length === 0) next.push('the workload ends');
  return { because, next };
}

function failed(job: JobRow, planned: PlannedJob, evidence: JobEvidence): Answer {
  const last = evidence.attempts.at(-1);
  const because = [last === undefined ? reasonLine(job) : attemptText(last)];
  if (last !== undefined && job.state === 'TimedOut') because.push(reasonLine(job));
  const noRetry = noRetryText(job, planned);
  if (noRetry !== null && job.attemptCount > 0) because.push(noRetry);
  if (job.failureImpact === 'allowed') because.push('its failure is allowed: what needs it goes on');
  const run = publicId('run', evidence.loaded.run.id);
  const log = job.attemptCount === 0 ? [] : [`forgeyard job logs ${address(run, job.node)}`];
  return { because, next: [...log, rerun(evidence)] };
}

function skipped(job: JobRow, evidence: JobEvidence): Answer {
  const because = [reasonLine(job)];
  const root = job.reason?.root;
  const rootRow = root === undefined ? undefined : evidence.loaded.nodes.find((row) => row.node === root);
  if (rootRow !== undefined) because.push(`the root is ${rootRow.kind} ${rootRow.node}, which is ${rootRow.state}`);
  because.push(
    job.satisfies === true
      ? 'this skip satisfies: what needs it goes on'
      : `this skip does not satisfy: what needs it is skipped too${job.required ? ', and the run cannot succeed' : ''}`,
  );
  const run = publicId('run', evidence.loaded.run.id);
  const next =
    rootRow === undefined
      ? []
      : [
          `forgeyard ${rootRow.kind === 'job' ? 'job explain' : 'gate list'} ${rootRow.kind === 'job' ? address(run, rootRow.node) : run}`,
        ];
  return { because, next: job.satisfies === true ? [] : [...next, rerun(evidence)] };
}

function reasonLine(job: JobRow): string {
  if (job.reason === null) return `it is ${job.state}`;
  const message = job.reason.message === undefined ? '' : ` (${job.reason.message})`;
  return `${job.reason.code}: ${reasonSentences[job.reason.code]}${message}`;
}

function intentLines({ loaded }: JobEvidence): readonly string[] {
  const { intent } = loaded.run;
  if (intent === null) return [];
  const by = intent.supersededBy === null ? '' : ` by ${publicId('run', intent.supersededBy)}`;
  return [`the run was asked to end: ${intent.kind}${by}`];
}

const rerun = ({ loaded }: JobEvidence): string =>
  `forgeyard run retry ${publicId('run', loaded.run.id)} starts the plan again`;
const rescue = ({ loaded }: JobEvidence): string =>
  `forgeyard run watch --resume ${publicId('run', loaded.run.id)} carries it here`;
