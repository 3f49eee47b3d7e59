/** Copies outputs of upstream jobs into the workspace; the bytes are hashed while they are written. */
import { chmod, open, rm } from 'node:fs/promises';
import type { OutputStore } from '../outputs/output-store.ts';
import { writeAll } from '../outputs/output-store.ts';
import type { JobInputs, OutputRefReport } from '../protocol/index.ts';
import { untilAborted } from '../until-aborted.ts';
import { below, makeFoldersAbove } from './safe-path.ts';

export type Placed =
  | { readonly kind: 'placed'; readonly files: number; readonly jobs: ReadonlySet<string> }
  | { readonly kind: 'failed'; readonly message: string; readonly transient: boolean }
  | { readonly kind: 'halted' };

export interface PlaceOptions {
  readonly work: string;
  readonly store: OutputStore;
  readonly inputs: Iterable<JobInputs> | AsyncIterable<JobInputs>;
  readonly signal: AbortSignal;
}

export async function placeInputs(options: PlaceOptions): Promise<Placed> {
  const placed = new Map<string, { readonly job: string; readonly digest: string }>();
  const jobs = new Set<string>();
  for await (const { job, outputs } of options.inputs) {
    for (const output of outputs) {
      if (options.signal.aborted) return { kind: 'halted' };
      const target = below(options.work, output.path);
      if (target === null || target === options.work) return refused(`${job}: ${output.path} leaves the workspace`);
      const earlier = placed.get(target);
      if (earlier?.digest === output.digest) continue;
      if (earlier !== undefined) {
        return refused(`${output.path} comes from both ${earlier.job} and ${job}, with different content`);
      }
      const problem = await placeOne(options, output, target);
      if (problem !== null) return { ...problem, message: `${job}: ${problem.message}` };
      placed.set(target, { job, digest: output.digest });
      jobs.add(job);
    }
  }
  return { kind: 'placed', files: placed.size, jobs };
}

type Failed = Extract<Placed, { kind: 'failed' }>;

async function placeOne(options: PlaceOptions, output: OutputRefReport, target: string): Promise<Failed | null> {
  try {
    if (!(await makeFoldersAbove(options.work, target))) {
      return refused(`${output.path} would be written through a link or a file`);
    }
    // `wx` never follows a link at the last component; a file the sources brought is replaced.
    await rm(target, { force: true });
    const file = await open(target, 'wx', 0o600);
    const reading = options.store.read(output.digest, (chunk) => writeAll(file, chunk));
    const found = await untilAborted(reading, options.signal).finally(() => file.close());
    if (found.kind !== 'found') {
      await rm(target, { force: true });
      return { kind: 'failed', message: `${output.path} is ${found.kind} in the output store`, transient: true };
    }
    await chmod(target, output.mode);
    return null;
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    return { kind: 'failed', message: `${output.path} could not be placed: ${message}`, transient: true };
  }
}

function refused(message: string): Failed {
  return { kind: 'failed', message, transient: false };
}
