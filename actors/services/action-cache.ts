/**
 * Action cache (000 §207-211): a job whose key and spec were committed before ends without an attempt, if its bytes
 * are still there and sound; a missing or corrupt entry is invalidated and counts as a miss.
 */
import type { JobRow, PlannedJob, RunAggregate, RunId } from '../../machines/index.ts';
import type { Directory } from '../directory.ts';
import { internal } from '../envelope.ts';
import type { Ports } from '../ports.ts';

/** True when the job ended by a cache hit. Jobs without a key are never looked up. */
export async function tryCache(ports: Ports, directory: Directory, run: RunId, job: JobRow['id']): Promise<boolean> {
  const found = await directory.actor(run).read((aggregate) => cacheKeyOf(aggregate, job));
  if (found === null || found === undefined) return false;
  const entry = await ports.store.cacheLookup(found);
  if (entry === null) return false;
  const { missing, corrupt } = await ports.verifier.verify(entry.outputs);
  if (missing.length > 0 || corrupt.length > 0) {
    await ports.store.cacheInvalidate(found);
    return false;
  }
  const result = await directory
    .actor(run)
    .send(internal({ type: 'ResolveCacheHit', job, outputs: entry.outputs }, 'system:cache'));
  return result.outcome === 'accepted';
}

/** Remembers the outputs of an executed success under the job's key. */
export async function rememberSuccess(ports: Ports, aggregate: RunAggregate, index: number): Promise<void> {
  const row = aggregate.job(index);
  const key = cacheKeyOf(aggregate, row.id);
  if (key === undefined || row.state !== 'Succeeded' || row.executionSource !== 'Executed') return;
  await ports.store.cachePut({
    ...key,
    outputs: row.outputs,
    runId: row.runId,
    jobId: row.id,
    createdAt: ports.store.now(),
  });
}

function cacheKeyOf(aggregate: RunAggregate, job: JobRow['id']) {
  const index = aggregate.findJob(job);
  if (index === undefined) return undefined;
  const planned: PlannedJob = aggregate.index.job(index);
  if (planned.cacheKey === null) return undefined;
  return { project: aggregate.run.project, key: planned.cacheKey, specDigest: planned.specDigest };
}
