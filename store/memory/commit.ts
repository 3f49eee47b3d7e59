/**
 * A commit in two steps: `judge` looks and changes nothing, `apply` changes and cannot fail. Commits of one batch
 * that touch the same run or request go in successive waves, so that each is judged against its predecessor's result.
 */
import type { CommitGuard, MessageId, Timestamp } from '../../machines/index.ts';
import { isLeaseLive } from '../../machines/model/index.ts';
import type { CommitOutcome, RunCommit } from '../contract.ts';
import { applyCommit } from './apply-commit.ts';
import { brokenRule } from './broken-rule.ts';
import type { MemoryRun, MemoryState } from './state.ts';
import { hasHeartbeatGap, requestKey } from './state.ts';

export function commitAll(state: MemoryState, commits: readonly RunCommit[]): readonly CommitOutcome[] {
  const outcomes: CommitOutcome[] = [];
  let applied = false;
  for (const wave of waves(commits)) {
    try {
      const results = commitWave(state, wave);
      applied ||= results.some((each) => each.kind === 'committed' || each.kind === 'unknown');
      outcomes.push(...results);
    } catch (cause) {
      if (!applied) throw cause;
      outcomes.push(...wave.map(() => ({ kind: 'failed', cause }) as const));
    }
  }
  return outcomes;
}

function waves(commits: readonly RunCommit[]): readonly (readonly RunCommit[])[] {
  const result: RunCommit[][] = [];
  let taken = new Set<string>();
  for (const commit of commits) {
    const keys = [
      commit.runId,
      ...(commit.create === null ? [] : [requestKey(commit.run.project, commit.run.requestId)]),
    ];
    const current = result.at(-1);
    if (current === undefined || keys.some((key) => taken.has(key))) {
      taken = new Set(keys);
      result.push([commit]);
    } else {
      for (const key of keys) taken.add(key);
      current.push(commit);
    }
  }
  return result;
}

/** All or nothing as far as the hooks are concerned: one that throws stands for a crash at that point. */
function commitWave(state: MemoryState, wave: readonly RunCommit[]): readonly CommitOutcome[] {
  state.hook('commit:before-send');
  const now = state.clock.now();
  const outcomes = wave.map((commit) => {
    const outcome = judge(state, commit, now);
    if (outcome.kind === 'committed') state.hook('commit:between-statements');
    return outcome;
  });
  if (outcomes.every(({ kind }) => kind !== 'committed')) return outcomes;
  state.hook('commit:before-commit');
  wave.forEach((commit, place) => {
    if (outcomes[place]?.kind === 'committed') applyCommit(state, commit, now);
  });
  try {
    state.hook('commit:after-commit');
  } catch (cause) {
    return outcomes.map((outcome) => (outcome.kind === 'committed' ? { kind: 'unknown', cause } : outcome));
  }
  return outcomes;
}

function judge(state: MemoryState, commit: RunCommit, now: Timestamp): CommitOutcome {
  const existing = state.runs.get(commit.runId);
  const duplicates = repeatedMessages(commit, existing);
  if (duplicates.length > 0) return { kind: 'duplicate', messages: duplicates };
  if (commit.create !== null && existing === undefined) {
    const taken = state.requests.get(requestKey(commit.run.project, commit.run.requestId));
    if (taken !== undefined) return { kind: 'exists', runId: taken };
  }
  if (
    (existing?.run.sequence ?? 0) !== commit.expectedSequence ||
    (existing === undefined) !== (commit.create !== null)
  ) {
    return { kind: 'conflict', why: 'sequence' };
  }
  if (!commit.guards.every((guard) => holds(state, existing, guard, now))) return { kind: 'conflict', why: 'guard' };
  const broken = brokenRule(commit, existing);
  if (broken !== null) return { kind: 'failed', cause: new Error(`run ${commit.runId}: ${broken}`) };
  return { kind: 'committed' };
}

function repeatedMessages(commit: RunCommit, existing: MemoryRun | undefined): readonly MessageId[] {
  const messages = commit.receipts.map(({ messageId }) => messageId);
  return messages.filter((id, place) => existing?.receipts.has(id) === true || messages.indexOf(id) !== place);
}

function holds(state: MemoryState, run: MemoryRun | undefined, guard: CommitGuard, now: Timestamp): boolean {
  switch (guard.kind) {
    case 'session-active':
      return state.sessions.get(guard.session)?.state === 'Active';
    case 'lease-live': {
      const lease = run?.leases.get(guard.lease);
      return lease !== undefined && isLeaseLive(lease.state) && lease.expiresAt > now;
    }
    case 'lease-expired': {
      const lease = run?.leases.get(guard.lease);
      if (lease === undefined || !isLeaseLive(lease.state) || lease.expiresAt > now) return false;
      return guard.creditSequence === (state.credits.at(-1)?.sequence ?? 0) && !hasHeartbeatGap(state, now);
    }
  }
}
