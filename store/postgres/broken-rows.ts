import type { RunCommit } from '../contract.ts';

/** The rows of a commit contradict each other in a way that no constraint of the schema sees; null when they do not. */
export function brokenRows(commit: RunCommit): Error | null {
  const { runId, run, facts, expectedSequence, create } = commit;
  if (run.id !== runId) return new Error(`the row belongs to run ${run.id}, not ${runId}`);
  if (run.sequence !== expectedSequence + facts.length) return new Error('the sequence is not that of the last fact');
  const misplaced = facts.find((fact, place) => fact.runId !== runId || fact.sequence !== expectedSequence + place + 1);
  if (misplaced !== undefined) return new Error(`fact ${misplaced.sequence} is out of order`);
  const foreign = [...commit.jobs, ...commit.gates, ...commit.attempts, ...commit.leases].find(
    (row) => row.runId !== runId,
  );
  if (foreign !== undefined) return new Error(`${foreign.id} belongs to run ${foreign.runId}`);
  return create === null ? null : brokenCreation(commit, create);
}

function brokenCreation({ jobs, gates }: RunCommit, { plan }: Exclude<RunCommit['create'], null>): Error | null {
  if (jobs.length + gates.length !== plan.nodes.length) return new Error('the plan has other nodes');
  const lost = [...jobs, ...gates].find((row) => plan.nodes[row.index]?.kind !== row.kind);
  return lost === undefined ? null : new Error(`${lost.id} has no place in the plan`);
}
