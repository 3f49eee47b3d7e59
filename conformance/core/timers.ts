/** Durable deadlines: folded from the changes of commits, and asked for by the rows. They must be the same. */
import type { Deadline, RunAggregate, TimerChanges } from '../../machines/index.ts';
import { attemptDeadlines, gateDeadlines, jobDeadlines, leaseDeadlines, runDeadlines } from '../../machines/index.ts';

export type TimerFold = Map<string, Deadline>;

export function foldTimers(timers: TimerFold, changes: TimerChanges): void {
  for (const key of changes.cancel) timers.delete(key);
  for (const deadline of changes.set) timers.set(deadline.key, deadline);
}

/** Every deadline that the rows of a run ask for. */
export function deadlinesOf(state: RunAggregate): readonly Deadline[] {
  return [
    ...runDeadlines(state.run),
    ...state.nodes.flatMap((row) => (row.kind === 'job' ? jobDeadlines(row) : gateDeadlines(row))),
    ...[...state.attempts.values()].flatMap(attemptDeadlines),
    ...[...state.leases.values()].flatMap(leaseDeadlines),
  ];
}

export function timerDifferences(timers: TimerFold, state: RunAggregate): readonly string[] {
  const asked = deadlinesOf(state);
  const wrong = asked
    .filter((one) => timers.get(one.key)?.dueAt !== one.dueAt || timers.get(one.key)?.kind !== one.kind)
    .map((one) => `timers: ${one.kind} is not set as the rows ask`);
  if (asked.length !== timers.size) {
    const keys = new Set(asked.map((one) => one.key));
    wrong.push(
      ...[...timers.values()].filter((one) => !keys.has(one.key)).map((one) => `timers: ${one.kind} is left over`),
    );
  }
  return wrong;
}
