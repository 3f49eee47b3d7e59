/** Why a run is where it is: what blocks it, what it waits for, and what would make it go on. */
import type { JobRow, NodeRow } from '../../machines/index.ts';
import { isGateEnded, isJobActive, isJobEnded, isRunTerminal, reasonSentences } from '../../machines/index.ts';
import { publicId } from '../ids/index.ts';
import { clockText, durationText, isRetrying, reasonText, shellWord } from '../views/index.ts';
import type { ExplainRows, Explanation } from './explanation.ts';
import { address } from './explanation.ts';
import { limited, nextAbout } from './needs.ts';
import { unmetCapabilities, unmetText } from './unmet.ts';

export function explainRun(rows: ExplainRows): Explanation {
  const { run } = rows.loaded;
  const { because, next } = isRunTerminal(run.state) ? ended(rows) : going(rows);
  return { subject: `run ${publicId('run', run.id)}`, state: run.state, because, next };
}

type Answer = Pick<Explanation, 'because' | 'next'>;

function ended({ loaded }: ExplainRows): Answer {
  const { run, nodes } = loaded;
  const id = publicId('run', run.id);
  const because =
    run.reason === null ? [`it is ${run.state}`] : [`${run.reason.code}: ${reasonSentences[run.reason.code]}`];
  if (run.intent?.supersededBy) because.push(`${publicId('run', run.intent.supersededBy)} took its place`);
  if (run.state === 'Succeeded') return { because, next: [] };
  const blocking = nodes.filter(isBlocking);
  const lines = blocking.map((row) => `${row.kind} ${row.node} is ${row.state}: ${reasonText(row.reason)}`);
  const first = blocking.find((row) => row.kind === 'job' && row.state !== 'Skipped') ?? blocking[0];
  const look = first?.kind === 'job' ? [`forgeyard job explain ${address(id, first.node)}`] : [];
  return {
    because: [...because, ...limited(lines)],
    next: [...look, `forgeyard run retry ${id} starts the plan again`],
  };
}

/** Ends that keep a run from succeeding; gates count through what needs them. */
function isBlocking(row: NodeRow): boolean {
  if (row.kind === 'gate') return row.state === 'Rejected';
  if (!row.required) return false;
  if (row.state === 'Skipped') return row.satisfies !== true;
  if (row.state === 'Cancelled') return row.failureImpact === 'blocking' || row.reason?.code === 'FailFast';
  return (row.state === 'Failed' || row.state === 'TimedOut') && row.failureImpact === 'blocking';
}

function going(rows: ExplainRows): Answer {
  const { loaded, now, sessions } = rows;
  const { run, nodes } = loaded;
  const jobs = nodes.filter((row) => row.kind === 'job');
  const open = nodes.filter((row) => !isEnded(row));
  const because = [`${nodes.length - open.length} of ${nodes.length} jobs and gates have ended`];
  const next: string[] = [];
  if (run.intent !== null) {
    const working = jobs.filter((job) => isJobActive(job.state));
    because.unshift(`it was asked to end (${run.intent.kind}) ${durationText(now - run.intent.requestedAt)} ago`);
    because.push(
      `${working.length === 1 ? '1 job is' : `${working.length} jobs are`} still stopping: ${names(working)}`,
    );
  }
  const counted = groups(jobs);
  because.push(...counted);
  for (const unmet of unmetCapabilities(jobs, sessions)) {
    because.push(unmetText(unmet));
    const flags = unmet.capabilities.map((name) => `--capability ${shellWord(name)}`).join(' ');
    next.push(`connect a runner that has it: forgeyard run watch --resume ${publicId('run', run.id)} ${flags}`);
  }
  if (sessions.length === 0) {
    because.push('no process carries it: no runner is connected');
    next.push(`forgeyard run watch --resume ${publicId('run', run.id)} carries it here`);
  }
  // What is not waiting for another node is what the run waits for.
  const ready = open.filter((row) => (row.kind === 'gate' ? row.openedAt !== null : row.state !== 'Pending'));
  next.push(...limited(ready.map((row) => nextAbout(row, rows))));
  if (run.deadlineAt !== null)
    next.push(`its deadline is ${clockText(run.deadlineAt)}, in ${durationText(run.deadlineAt - now)}`);
  return { because, next };
}

const isEnded = (row: NodeRow): boolean => (row.kind === 'job' ? isJobEnded(row.state) : isGateEnded(row.state));

function groups(jobs: readonly JobRow[]): readonly string[] {
  const lines: string[] = [];
  const tell = (what: string, found: readonly JobRow[]): void => {
    if (found.length > 0) lines.push(`${what}: ${names(found)}`);
  };
  tell(
    'running',
    jobs.filter((job) => isJobActive(job.state)),
  );
  tell('an attempt failed and the job is tried again', jobs.filter(isRetrying));
  tell(
    'ready, waiting for a runner',
    jobs.filter((job) => job.state === 'Eligible' && !isRetrying(job)),
  );
  tell(
    'waiting for other jobs or gates',
    jobs.filter((job) => job.state === 'Pending'),
  );
  tell(
    'failed',
    jobs.filter((job) => job.state === 'Failed' || job.state === 'TimedOut'),
  );
  return lines;
}

function names(rows: readonly NodeRow[]): string {
  const shown = rows.slice(0, 8).map((row) => row.node);
  return rows.length > shown.length ? `${shown.join(', ')} and ${rows.length - shown.length} more` : shown.join(', ');
}
