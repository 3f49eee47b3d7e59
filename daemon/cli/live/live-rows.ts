/** The picture of a running run as lines: pure, so that it can be looked at in tests. */
import type { JobRow, NodeRow, RunAggregate } from '../../../machines/index.ts';
import { isJobEnded, isRunTerminal } from '../../../machines/index.ts';
import { publicId } from '../../ids/index.ts';
import { durationText, isRetrying, reasonText } from '../../views/index.ts';
import type { Paint } from '../output/paint.ts';
import { styleOfState } from '../output/paint.ts';
import { printable } from '../output/printable.ts';
import { approveCommand } from './approve-command.ts';
import type { Symbols } from './symbols.ts';

export interface PictureOptions {
  readonly aggregate: RunAggregate;
  readonly now: number;
  /** What each job is doing, by job id, as its runner last said. */
  readonly steps: ReadonlyMap<string, string>;
  readonly symbols: Symbols;
  readonly paint: Paint;
  readonly rowsMax: number;
}

interface Shown {
  readonly line: string;
  /** Lower is more worth a line. */
  readonly rank: number;
}

const ranks = { asks: 0, active: 1, retrying: 1, failed: 2, waiting: 3, ended: 4 } as const;

export function picture(options: PictureOptions): readonly string[] {
  const rows = groupsOf(options.aggregate).flatMap((group) => groupLines(group, options));
  return [headLine(options), ...fitted(rows, options)];
}

function headLine({ aggregate, now, paint }: PictureOptions): string {
  const { run } = aggregate;
  const jobs = aggregate.nodes.filter((row) => row.kind === 'job');
  const count = (test: (job: JobRow) => boolean): number => jobs.filter(test).length;
  const counts = [
    `${count((job) => isJobEnded(job.state))}/${jobs.length} jobs`,
    some(count(isWorking), 'running'),
    some(count(isRetrying), 'retrying'),
    some(
      count((job) => job.state === 'Eligible' && !isRetrying(job)),
      'queued',
    ),
    some(
      count((job) => job.state === 'Failed' || job.state === 'TimedOut'),
      'failed',
    ),
  ].filter((text) => text !== '');
  const title = paint('bold', printable(`${run.project}/${run.name}`));
  const asked = run.intent === null || isRunTerminal(run.state) ? '' : ` (${run.intent.kind})`;
  const state = paint(styleOfState(run.state), `${run.state}${asked}`);
  const elapsed = durationText((run.finishedAt ?? now) - run.createdAt);
  return `${title}  ${state}  ${elapsed}  ${counts.join(', ')}  ${paint('dim', publicId('run', run.id))}`;
}

const some = (count: number, what: string): string => (count === 0 ? '' : `${count} ${what}`);

const isWorking = (job: JobRow): boolean =>
  job.state === 'Preparing' || job.state === 'Running' || job.state === 'UploadingOutputs';

interface Group {
  /** Null: a single job or gate. */
  readonly matrix: string | null;
  readonly rows: readonly NodeRow[];
}

/** In plan order; the children of a matrix stand together where its first one is. */
function groupsOf(aggregate: RunAggregate): readonly Group[] {
  const groups: { matrix: string | null; rows: NodeRow[] }[] = [];
  const matrices = new Map<string, NodeRow[]>();
  for (const row of aggregate.nodes) {
    const matrix = row.kind === 'job' ? row.matrixGroup : null;
    const known = matrix === null ? undefined : matrices.get(matrix);
    if (known !== undefined) {
      known.push(row);
      continue;
    }
    const rows = [row];
    if (matrix !== null) matrices.set(matrix, rows);
    groups.push({ matrix, rows });
  }
  return groups;
}

function groupLines({ matrix, rows }: Group, options: PictureOptions): readonly Shown[] {
  if (matrix === null) return rows.map((row) => nodeLine(row, { ...options, indent: '  ' }));
  const children = rows.filter((row) => row.kind === 'job').map((row) => nodeLine(row, { ...options, indent: '    ' }));
  const ended = rows.filter((row) => row.finishedAt !== null).length;
  const failed = rows.filter((row) => row.state === 'Failed' || row.state === 'TimedOut').length;
  const rank = Math.min(...children.map((child) => child.rank));
  const failures = failed === 0 ? '' : `  ${options.paint('red', `${failed} failed`)}`;
  const head = `  ${options.symbols.group} ${printable(matrix)}  ${ended}/${rows.length}${failures}`;
  // Children that only wait or have ended well add nothing to "3/4".
  return [{ line: head, rank }, ...children.filter((child) => child.rank < ranks.waiting)];
}

function nodeLine(row: NodeRow, options: PictureOptions & { readonly indent: string }): Shown {
  const { symbols, paint, indent } = options;
  if (row.kind === 'gate') {
    const asks = row.state === 'Pending' && row.openedAt !== null;
    const text = asks
      ? paint('yellow', `waits for a decision: ${printable(approveCommand(row.runId, row.node))}`)
      : paint(styleOfState(row.state), row.state === 'Pending' ? 'closed gate' : row.state);
    const rank = asks ? ranks.asks : row.state === 'Pending' ? ranks.waiting : ranks.ended;
    return { line: `${indent}${asks ? symbols.asks : symbols.of(row.state)} ${printable(row.node)}  ${text}`, rank };
  }
  const state = paint(styleOfState(row.state), row.state);
  const line = `${indent}${symbols.of(row.state)} ${printable(row.node)}  ${state}${jobDetail(row, options)}`;
  return { line, rank: rankOf(row) };
}

function rankOf(job: JobRow): number {
  if (isWorking(job) || job.state === 'Leased') return ranks.active;
  if (isRetrying(job)) return ranks.retrying;
  if (job.state === 'Failed' || job.state === 'TimedOut') return ranks.failed;
  return isJobEnded(job.state) ? ranks.ended : ranks.waiting;
}

/** A failed attempt whose job goes on is told apart from a failed job; loss is shown as what it is. */
function jobDetail(job: JobRow, { now, steps, paint }: PictureOptions): string {
  const parts: string[] = [];
  if (isWorking(job)) {
    if (job.attemptCount > 1) parts.push(`attempt ${job.attemptCount}`);
    const step = steps.get(job.id);
    if (step !== undefined && job.state === 'Running') parts.push(printable(step));
    parts.push(durationText(now - (job.preparingAt ?? now)));
  } else if (isRetrying(job)) {
    const cause = job.failureClass ?? 'failure';
    const left = job.retryNotBefore === null ? 'soon' : `in ${durationText(job.retryNotBefore - now)}`;
    parts.push(`attempt ${job.attemptCount} failed (${cause}), job retrying ${left}`);
  } else if (job.state === 'Failed' || job.state === 'TimedOut') {
    parts.push(reasonText(job.reason), job.failureImpact === 'allowed' ? 'allowed' : '');
  } else if (job.state === 'Skipped' || job.state === 'Cancelled') parts.push(reasonText(job.reason));
  else if (job.executionSource === 'CacheHit') parts.push('cache hit');
  else if (job.state === 'Succeeded') parts.push(durationText((job.finishedAt ?? now) - (job.preparingAt ?? now)));
  const detail = parts.filter((part) => part !== '').map(printable);
  return detail.length === 0 ? '' : `  ${paint('dim', detail.join(', '))}`;
}

/** As many lines as there is room for: what asks, works or failed first, each where it belongs. */
function fitted(rows: readonly Shown[], { rowsMax, paint }: PictureOptions): readonly string[] {
  const room = Math.max(1, rowsMax - 1);
  if (rows.length <= room) return rows.map((row) => row.line);
  const kept = new Set(
    rows
      .map((row, at) => ({ rank: row.rank, at }))
      .sort((a, b) => a.rank - b.rank || a.at - b.at)
      .slice(0, room - 1)
      .map(({ at }) => at),
  );
  const lines = rows.filter((_, at) => kept.has(at)).map((row) => row.line);
  return [...lines, paint('dim', `  … ${rows.length - lines.length} more`)];
}
