/** Runs for people: a list, one of them in full, and the few lines that remain when a run has ended. */
import type { GateView, JobLine, RunLine, RunView } from '../../views/index.ts';
import { clockText, durationText, reasonText, shellWord } from '../../views/index.ts';
import type { Paint } from './paint.ts';
import { styleOfState } from './paint.ts';
import { printable } from './printable.ts';
import type { Cell, Row } from './table.ts';
import { renderFields, renderTable } from './table.ts';

export interface TableLook {
  readonly paint: Paint;
  readonly widthMax: number | null;
}

export const stateCell = (state: string): Cell => ({ text: state, style: styleOfState(state) });

export function runTable(runs: readonly RunLine[], { paint, widthMax }: TableLook): string {
  const rows = runs.map(
    (run): Row => [
      run.id,
      `${run.project}/${run.name}`,
      stateCell(run.state),
      `${run.jobs.ended}/${run.jobs.total}`,
      clockText(Date.parse(run.createdAt)),
      durationText(run.durationMs),
      labelText(run.labels),
    ],
  );
  return renderTable({ head: ['RUN', 'NAME', 'STATE', 'JOBS', 'CREATED', 'TIME', 'LABELS'], rows, paint, widthMax });
}

const labelText = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');

export function runDetail(run: RunView, look: TableLook): string {
  const { commit, dirty } = run.source;
  const fields = renderFields(
    [
      ['run', run.id],
      ['name', `${run.project}/${run.name}`],
      ['state', { text: intentText(run), style: styleOfState(run.state) }],
      ['reason', reasonText(run.reason)],
      ['plan', run.planDigest],
      ['source', commit === null ? 'directory' : `${commit}${dirty ? ', with changes' : ''}`],
      ['created', `${timeText(run.createdAt)} by ${run.createdBy}`],
      ['started', timeText(run.startedAt)],
      ['finished', timeText(run.finishedAt)],
      ['time', durationText(run.durationMs)],
      ['deadline', timeText(run.deadlineAt)],
      ['priority', String(run.priority)],
      ['labels', labelText(run.labels)],
      ['group', run.concurrencyGroup],
      ['rerun of', run.rerunOf],
      ['superseded by', run.supersededBy],
      ['jobs', totalsText(run)],
      ['retrying', run.activeRetries.map((retry) => `${retry.job} (attempt ${retry.failedAttempt} failed)`).join(', ')],
    ],
    look.paint,
  );
  return `${fields}\n\n${nodeTable(run.nodes, look)}`;
}

const intentText = (run: RunLine): string =>
  run.intent === null || run.finishedAt !== null ? run.state : `${run.state} (${run.intent} requested)`;

const timeText = (at: string | null): string | null => (at === null ? null : clockText(Date.parse(at)));

function totalsText(run: RunLine): string {
  const states = Object.entries(run.jobs.byState).map(([state, count]) => `${count} ${state}`);
  return `${run.jobs.ended}/${run.jobs.total} ended${states.length === 0 ? '' : `: ${states.join(', ')}`}`;
}

export function nodeTable(nodes: readonly (JobLine | GateView)[], { paint, widthMax }: TableLook): string {
  return renderTable({
    head: ['NAME', 'STATE', 'ATTEMPTS', 'QUEUE', 'TIME', 'RUNNER', 'REASON'],
    rows: nodes.map(nodeRow),
    paint,
    widthMax,
  });
}

function nodeRow(node: JobLine | GateView): Row {
  if (node.kind === 'gate') {
    const waits = node.state === 'Pending' && node.openedAt !== null;
    const reason = waits ? 'waits for a decision' : reasonText(node.reason);
    return [`${node.name} (gate)`, stateCell(node.state), '', '', '', '', reason];
  }
  return [
    node.name,
    stateCell(node.state),
    attemptsText(node),
    node.queueMs === null ? '' : durationText(node.queueMs),
    node.durationMs === null ? '' : durationText(node.durationMs),
    node.runner === null ? '' : node.runner,
    noteText(node),
  ];
}

function attemptsText(job: JobLine): string {
  if (job.executionSource === 'CacheHit') return 'cache';
  return job.attempts === 0 ? '' : String(job.attempts);
}

/** A job that will be tried again has not failed; what was lost was not the workload's fault. */
function noteText(job: JobLine): string {
  const retry = job.retryNotBefore === null ? '' : `attempt failed (${job.failureClass ?? '?'}), job retrying`;
  const impact = job.failureImpact === 'allowed' && job.state === 'Failed' ? 'allowed' : '';
  const intent = job.intent === null || job.state === 'Cancelled' ? '' : `${job.intent} requested`;
  return [retry || reasonText(job.reason), impact, intent].filter((text) => text !== '').join(', ');
}

/** Jobs and gates named when a run has failed. */
const failuresMax = 5;

export function runSummary(run: RunView, paint: Paint): string {
  const counts = Object.entries(run.jobs.byState).map(([state, count]) =>
    paint(styleOfState(state), `${count} ${state}`),
  );
  const reason = run.state === 'Succeeded' ? '' : `  ${reasonText(run.reason)}`;
  const state = paint(styleOfState(run.state), run.state);
  const head = `${run.id}  ${state} in ${durationText(run.durationMs)}  (${counts.join(', ')})${reason}`;
  return [head, ...failureLines(run)].join('\n');
}

function failureLines(run: RunView): readonly string[] {
  const failed = run.nodes.flatMap((node) => {
    const failure = failureOf(node, run.id);
    return failure === null ? [] : [failure];
  });
  // What decided comes before what only went wrong beside it.
  const ordered = [...failed.filter(({ counts }) => counts), ...failed.filter(({ counts }) => !counts)];
  const lines = ordered.slice(0, failuresMax).map(({ line }) => `  ${line}`);
  return failed.length > lines.length ? [...lines, `  and ${failed.length - lines.length} more`] : lines;
}

interface Failure {
  readonly line: string;
  /** Whether the result of the run depends on it. */
  readonly counts: boolean;
}

function failureOf(node: JobLine | GateView, run: string): Failure | null {
  const name = printable(node.name);
  const place = printable(shellWord(`${run}/${node.name}`));
  if (node.kind === 'gate') {
    const isRejected = node.state === 'Rejected';
    return isRejected ? { counts: true, line: `${name}: gate rejected, ${printable(reasonText(node.reason))}` } : null;
  }
  if (node.state !== 'Failed' && node.state !== 'TimedOut') return null;
  const counts = node.required && node.failureImpact === 'blocking';
  const beside = node.required ? ' (allowed)' : ' (not required)';
  // A job that no runner took has no log.
  const command = node.attempts === 0 ? 'explain' : 'logs';
  return { counts, line: `${name}${counts ? '' : beside}: forgeyard job ${command} ${place}` };
}
