/** Says once why jobs wait in silence: no connected runner has what they need. */
import type { JobRow, RunAggregate, SessionRow } from '../../../machines/index.ts';
import { unmetCapabilities, unmetText } from '../../explain/index.ts';
import { publicId } from '../../ids/index.ts';
import { printable } from '../output/printable.ts';

export interface WaitNotes {
  /** The run as it is now. */
  show(aggregate: RunAggregate): void;
  /** Told jobs are not told again, not even when they come back into the queue. */
  look(): Promise<void>;
}

export interface WaitNotesOptions {
  readonly sessions: () => Promise<readonly SessionRow[]>;
  readonly note: (text: string) => void;
}

export function createWaitNotes({ sessions, note }: WaitNotesOptions): WaitNotes {
  const told = new Set<string>();
  let latest: RunAggregate | null = null;
  const isSilent = (job: JobRow): boolean =>
    job.state === 'Eligible' && job.capabilities.length > 0 && !told.has(job.id);
  return {
    show(aggregate) {
      latest = aggregate;
    },
    async look() {
      const waiting = latest?.nodes.filter((row) => row.kind === 'job' && isSilent(row)) ?? [];
      if (latest === null || waiting.length === 0) return;
      const run = publicId('run', latest.run.id);
      for (const unmet of unmetCapabilities(waiting, await sessions())) {
        for (const job of unmet.jobs) told.add(job.id);
        note(printable(`${unmetText(unmet)} (forgeyard run explain ${run})`));
      }
    },
  };
}

/** A job that has just become ready is mostly taken within this time. */
const lookEveryMs = 1_000;

/** Looks from time to time; the answer ends it. */
export function keepLooking(notes: WaitNotes): () => void {
  // A store that does not answer now is asked the next time.
  const timer = setInterval(() => void notes.look().catch(() => undefined), lookEveryMs);
  return () => clearInterval(timer);
}
