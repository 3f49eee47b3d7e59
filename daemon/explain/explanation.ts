/** Answers to "why is it so, and what would change it?", from persisted rows, the store's time and the live sessions alone. */
import type { AttemptRow, NodeRow, SessionRow } from '../../machines/index.ts';
import type { LoadedRun } from '../../store/index.ts';
import { shellWord } from '../views/index.ts';

export interface Explanation {
  /** What is explained, by name. */
  readonly subject: string;
  readonly state: string;
  /** Why it is in that state; the first line answers by itself. */
  readonly because: readonly string[];
  /** What would make it go on, or what can be done; empty when it is over and well. */
  readonly next: readonly string[];
}

export interface ExplainRows {
  readonly loaded: LoadedRun;
  readonly now: number;
  /** Active and draining ones. */
  readonly sessions: readonly SessionRow[];
  /** Who asks; without it nobody in particular. */
  readonly actor?: string;
}

export interface JobEvidence extends ExplainRows {
  /** All of the job, oldest first. */
  readonly attempts: readonly AttemptRow[];
  /** Eligible jobs that a runner with its capabilities would take first; null when it is not in the queue. */
  readonly ahead: number | null;
}

export function nodeAt({ nodes }: LoadedRun, index: number): NodeRow {
  const row = nodes[index];
  if (row === undefined) throw new Error(`no node ${index}`);
  return row;
}

/** How a job or gate is named on the command line. */
export const address = (run: string, name: string): string => shellWord(`${run}/${name}`);
