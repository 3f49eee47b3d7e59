/**
 * The newest attempt of each job at the place in the history that is being told. The rows know only how it is now,
 * and would give the first attempt the number and the failure of the last.
 */
import type { AttemptFact, AttemptRow, RunAggregate } from '../../../machines/index.ts';
import type { StoredFact } from '../../../store/index.ts';

export type ToldAttempt = Pick<AttemptRow, 'number' | 'failureClass' | 'failureDetail'>;

export interface AttemptMemory {
  note(stored: StoredFact): void;
  /** Null where the telling began after the attempt did, and its row is gone. */
  newest(job: number, aggregate: RunAggregate): ToldAttempt | null;
}

export function createAttemptMemory(): AttemptMemory {
  const told = new Map<number, ToldAttempt>();
  return {
    note({ fact }) {
      if (fact.entity !== 'attempt') return;
      if (fact.type === 'AttemptCreated') told.set(fact.index, created(fact));
      const known = told.get(fact.index);
      if (fact.type === 'AttemptEnded' && known !== undefined) told.set(fact.index, { ...known, ...failureOf(fact) });
    },
    newest: (job, aggregate) => told.get(job) ?? lastRow(aggregate, job),
  };
}

const created = ({ set }: AttemptFact): ToldAttempt => ({
  number: set.number ?? 1,
  failureClass: null,
  failureDetail: null,
});

const failureOf = ({ set }: AttemptFact): Pick<ToldAttempt, 'failureClass' | 'failureDetail'> => ({
  failureClass: set.failureClass ?? null,
  failureDetail: set.failureDetail ?? null,
});

function lastRow(aggregate: RunAggregate, job: number): AttemptRow | null {
  let last: AttemptRow | null = null;
  for (const attempt of aggregate.attempts.values()) {
    if (attempt.jobIndex === job && (last === null || attempt.number > last.number)) last = attempt;
  }
  return last;
}
