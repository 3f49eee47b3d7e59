/** Timer rows: Pending -> Claimed -> Fired; a claim that ran out counts as Pending again. */
import type { Deadline } from '../../machines/index.ts';
import type { ClaimedTimer, RunCommit, Store, TimerRow } from '../contract.ts';
import type { MemoryRun, MemoryState, MemoryTimer } from './state.ts';

export function applyTimers(state: MemoryState, run: MemoryRun, { fired, cancel, set }: RunCommit['timers']): void {
  for (const { key, token } of fired) {
    const timer = run.timers.get(key);
    if (timer?.state === 'Claimed' && timer.token === token) end(run, timer, 'Fired');
  }
  for (const key of cancel) {
    const timer = run.timers.get(key);
    if (timer !== undefined && timer.readyAt !== null) end(run, timer, 'Cancelled');
  }
  for (const deadline of set) arm(state, run, deadline);
}

function arm(state: MemoryState, run: MemoryRun, deadline: Deadline): void {
  put(state, run, { runId: run.run.id, deadline, state: 'Pending', token: null, readyAt: deadline.dueAt });
}

function put(state: MemoryState, run: MemoryRun, timer: MemoryTimer): void {
  run.timers.set(timer.deadline.key, timer);
  if (timer.readyAt !== null) state.dueTimers.push(timer.readyAt, timer);
}

function end(run: MemoryRun, timer: MemoryTimer, to: 'Fired' | 'Cancelled'): void {
  run.timers.set(timer.deadline.key, { ...timer, state: to, token: null, readyAt: null });
}

export function timerMethods(
  state: MemoryState,
): Pick<Store, 'claimTimers' | 'settleTimers' | 'nextTimerAt' | 'timers'> {
  return {
    async claimTimers({ limit, claimMs, token }) {
      const now = state.clock.now();
      const claimed: MemoryTimer[] = [];
      while (claimed.length < limit) {
        const top = state.dueTimers.peek();
        if (top === undefined || top.at > now) break;
        state.dueTimers.pop();
        const timer: MemoryTimer = { ...top.item, state: 'Claimed', token, readyAt: now + claimMs };
        const run = state.runs.get(timer.runId);
        if (run === undefined) continue;
        // Not yet pushed: a claim of no duration would be found again by this very loop.
        run.timers.set(timer.deadline.key, timer);
        claimed.push(timer);
      }
      for (const timer of claimed) state.dueTimers.push(now + claimMs, timer);
      return claimed.map(({ runId, deadline }): ClaimedTimer => ({ runId, token, deadline }));
    },
    async settleTimers(settlements) {
      for (const { runId, key, token, rearmAt } of settlements) {
        const run = state.runs.get(runId);
        const timer = run?.timers.get(key);
        if (run === undefined || timer?.state !== 'Claimed' || timer.token !== token) continue;
        if (rearmAt === null) end(run, timer, 'Fired');
        else arm(state, run, { ...timer.deadline, dueAt: rearmAt });
      }
    },
    async nextTimerAt() {
      return state.dueTimers.peek()?.at ?? null;
    },
    async timers(runId) {
      const timers = [...(state.runs.get(runId)?.timers.values() ?? [])];
      return timers
        .map(
          ({ deadline, state: timerState }): TimerRow => ({
            runId,
            key: deadline.key,
            kind: deadline.kind,
            dueAt: deadline.dueAt,
            state: timerState,
          }),
        )
        .sort((a, b) => a.dueAt - b.dueAt || (a.key < b.key ? -1 : 1));
    },
  };
}
