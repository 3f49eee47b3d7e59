/** What shows a run while it goes on. */
import type { AttemptProgress } from '../../../actors/index.ts';
import type { RunAggregate } from '../../../machines/index.ts';
import type { StoredFact } from '../../../store/index.ts';

export interface RunDisplay {
  show(facts: readonly StoredFact[], aggregate: RunAggregate): void;
  progress(progress: AttemptProgress): void;
  /** A line of the command itself. */
  note(text: string): void;
  close(): void;
}
