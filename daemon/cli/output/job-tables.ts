/** One job in full, and the timeline of its attempts. */
import type { JobRow } from '../../../machines/index.ts';
import type { AttemptView, JobView } from '../../views/index.ts';
import { clockText, durationText, reasonText, timeOfDay } from '../../views/index.ts';
import type { Paint, Style } from './paint.ts';
import { styleOfState } from './paint.ts';
import { printable } from './printable.ts';
import { renderFields } from './table.ts';

export function jobDetail(job: JobView, paint: Paint): string {
  const { timeouts } = job.resources;
  const limits = Object.entries({
    queue: timeouts.queueMs,
    preparation: timeouts.preparationMs,
    execution: timeouts.executionMs,
    upload: timeouts.uploadMs,
  }).flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${durationText(ms)}`]));
  const fields = renderFields(
    [
      ['job', job.id],
      ['name', job.name],
      ['run', job.run],
      [
        'state',
        {
          text: job.intent === null ? job.state : `${job.state} (${job.intent} requested)`,
          style: styleOfState(job.state),
        },
      ],
      ['reason', reasonText(job.reason)],
      ['counts', countsText(job)],
      ['attempt', job.currentAttempt === null ? null : `#${job.currentAttempt.number}  ${job.currentAttempt.id}`],
      [
        'lease',
        job.lease === null
          ? null
          : `${job.lease.state}, epoch ${job.lease.epoch}, until ${clockText(Date.parse(job.lease.expiresAt))}  ${job.lease.id}`,
      ],
      ['runner', job.runner],
      ['resources', [`${job.resources.slots} slot`, ...limits].join(', ')],
      ['capabilities', job.capabilities.join(' ')],
      ['queued', job.queueMs === null ? null : durationText(job.queueMs)],
      ['time', job.durationMs === null ? null : durationText(job.durationMs)],
      ['finished', job.finishedAt === null ? null : clockText(Date.parse(job.finishedAt))],
      ['result', job.executionSource === 'CacheHit' ? 'taken from the cache' : null],
      ['failure', failureText(job)],
      ['spec', job.specDigest],
    ],
    paint,
  );
  const sections = [fields];
  if (job.attemptHistory.length > 0)
    sections.push(`attempts\n${indented(attemptTimeline(job.attemptHistory, null, paint))}`);
  if (job.outputs.length > 0) sections.push(`outputs\n${indented(filesText(job.outputs))}`);
  if (job.reports.length > 0) sections.push(`reports\n${indented(filesText(job.reports))}`);
  return sections.join('\n\n');
}

function countsText(job: JobView): string {
  const impact = job.failureImpact === 'allowed' ? ', its failure is allowed' : '';
  return `${job.required ? 'required' : 'optional'}${impact}`;
}

function failureText(job: JobView): string | null {
  if (job.failure === null) return null;
  const { class: failureClass, step, message } = job.failure;
  const going = job.finishedAt === null ? 'of the last attempt: ' : '';
  return (
    going + [failureClass, step === null ? null : `step "${step}"`, message].filter((part) => part !== null).join(', ')
  );
}

const filesText = (files: JobView['outputs']): string =>
  files.map((file) => `${printable(file.path)}  ${file.bytes} bytes  ${file.digest}`).join('\n');

const indented = (text: string): string => text.replace(/^/gm, '  ');

/**
 * `#1  runner A  Lost (infrastructure)  12s  -> retried`. An attempt that failed is not a job that failed: what
 * the job made of it stands behind the arrow.
 */
export function attemptTimeline(
  attempts: readonly AttemptView[],
  job: Pick<JobRow, 'state' | 'retryNotBefore'> | null,
  paint: Paint,
): string {
  if (attempts.length === 0) return 'no attempts yet';
  const width = Math.max(...attempts.map((attempt) => printable(attempt.runner).length));
  return attempts
    .map((attempt) => {
      const runner = printable(attempt.runner).padEnd(width);
      const parts = [
        `#${attempt.number}`,
        paint('dim', timeOfDay(Date.parse(attempt.leasedAt))),
        runner,
        endText(attempt, paint),
        durationText(attempt.durationMs),
        paint(attempt.followedBy === 'retrying' ? 'magenta' : 'dim', followText(attempt, job)),
      ];
      return parts
        .filter((part) => part !== '')
        .join('  ')
        .trimEnd();
    })
    .join('\n');
}

function endText(attempt: AttemptView, paint: Paint): string {
  const style: Style = attempt.fault === 'infrastructure' ? 'magenta' : styleOfState(attempt.state);
  const detail = [
    attempt.fault === 'infrastructure' ? 'infrastructure' : null,
    attempt.failureClass,
    attempt.step === null ? null : `step "${printable(attempt.step)}"`,
    attempt.exit === null || attempt.state === 'Succeeded' ? null : exitText(attempt.exit),
    attempt.state === 'Rejected' || attempt.state === 'Cancelled' ? reasonText(attempt.reason) : null,
    attempt.lateResult ? 'a late result was not counted' : null,
  ].filter((part) => part !== null && part !== '');
  return `${paint(style, attempt.state)}${detail.length === 0 ? '' : ` (${printable(detail.join(', '))})`}`;
}

const exitText = ({ code, signal }: { readonly code: number | null; readonly signal: string | null }): string =>
  signal === null ? `exit ${code ?? '?'}` : signal;

function followText(attempt: AttemptView, job: Pick<JobRow, 'state' | 'retryNotBefore'> | null): string {
  switch (attempt.followedBy) {
    case 'retried':
      return '-> retried';
    case 'retrying':
      return job?.retryNotBefore ? `-> retrying at ${timeOfDay(job.retryNotBefore)}` : '-> retrying';
    case 'job ended':
      return job === null ? '' : `-> job ${job.state}`;
    case 'going on':
      return '';
    default:
      return attempt.followedBy satisfies never;
  }
}
