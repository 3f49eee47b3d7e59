/** `job logs`: the log file of an attempt, as it is. Secrets were redacted when it was written. */
import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { AttemptRow, JobRow } from '../../../machines/index.ts';
import type { Store } from '../../../store/index.ts';
import type { ExitCode } from '../exit-codes.ts';
import { exitCodes } from '../exit-codes.ts';
import type { FoundNode } from '../find/index.ts';
import { findJob } from '../find/index.ts';
import { Refusal } from '../refusal.ts';
import { watchSignals } from '../signals.ts';
import type { Terminal } from '../terminal.ts';
import { withStore } from '../with-store.ts';

export interface JobLogsOptions {
  readonly attempt?: number;
  readonly follow?: boolean;
}

const pollMs = 200;

export async function jobLogs(terminal: Terminal, typed: string, options: JobLogsOptions): Promise<ExitCode> {
  return await withStore(terminal, { create: false }, async ({ store, places }) => {
    const found = await findJob(store, typed);
    const attempt = await attemptOf(store, found, { typed, number: options.attempt });
    const file = join(places.logs, attempt.log ?? `${attempt.id}/attempt.log`);
    if (!existsSync(file) && (options.follow !== true || attempt.finishedAt !== null)) {
      throw new Refusal(`attempt ${attempt.number} has no log here`, {
        why: 'it wrote nothing, or it ran on another machine',
        todo: `forgeyard job attempts ${typed}`,
      });
    }
    if (options.follow === true) await follow(terminal, store, { file, attempt });
    else await copy(terminal, file, 0);
    return exitCodes.ok;
  });
}

async function attemptOf(
  store: Store,
  { run, row }: FoundNode<JobRow>,
  { typed, number }: { readonly typed: string; readonly number: number | undefined },
): Promise<AttemptRow> {
  const attempts = await store.attempts(run.run.id, { job: row.id });
  const attempt = number === undefined ? attempts.at(-1) : attempts.find((each) => each.number === number);
  if (attempt !== undefined) return attempt;
  const why =
    attempts.length > 0
      ? `it had ${attempts.length}`
      : row.executionSource === 'CacheHit'
        ? 'its result came from the cache'
        : `it is ${row.state} and nobody has begun it`;
  throw new Refusal(number === undefined ? 'this job has had no attempt' : `this job has no attempt ${number}`, {
    why,
    todo: [`forgeyard job attempts ${typed}`, `forgeyard job explain ${typed}`],
  });
}

interface Followed {
  readonly file: string;
  readonly attempt: AttemptRow;
}

async function follow(terminal: Terminal, store: Store, { file, attempt }: Followed): Promise<void> {
  const stopped = new AbortController();
  const unwatch = watchSignals(process, { onInterrupt: () => stopped.abort(), onLeave: () => stopped.abort() });
  let shown = 0;
  for (;;) {
    // Asked first, read after: what was written before the end is in the file by then.
    const [now] = await store.attempts(attempt.runId, { ids: [attempt.id] });
    const isOver = stopped.signal.aborted || now === undefined || now.finishedAt !== null;
    if (existsSync(file)) shown += await copy(terminal, file, shown);
    if (isOver) break;
    await pause(pollMs, stopped.signal);
  }
  unwatch();
}

/** Gives the number of bytes that were shown. */
async function copy(terminal: Terminal, file: string, start: number): Promise<number> {
  let bytes = 0;
  for await (const chunk of createReadStream(file, { start })) {
    const data: Buffer = chunk;
    bytes += data.byteLength;
    await terminal.raw(data);
  }
  return bytes;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
    signal.addEventListener('abort', end, { once: true });
  });
}
