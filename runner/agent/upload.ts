/** Outputs and reports into the store, again and again while the lease is held (000 §121-124). */
import { pause } from '../clock.ts';
import type { OutputRefReport } from '../protocol/index.ts';
import type { CollectLimits } from '../workspace/collect-files.ts';
import { matchFiles, uploadFiles } from '../workspace/collect-files.ts';
import type { AttemptContext } from './attempt-context.ts';
import type { Outcome } from './outcome.ts';
import { done, failed, halted, messageOf } from './outcome.ts';
import type { Scene } from './scene.ts';

/** In one remark. */
const pathsShownMax = 10;

export interface Uploaded {
  readonly outputs: OutputRefReport[];
  readonly reports: OutputRefReport[];
}

export async function uploadResults(
  context: AttemptContext,
  scene: Scene,
  signal: AbortSignal,
): Promise<Outcome<Uploaded>> {
  const { options, spec, tuning } = context;
  const { work } = scene.workspace;
  const matched = await matchFiles({ work, globs: spec.outputs, eachMustMatch: true, limits: limitsOf(context) });
  if (matched.kind === 'refused') return failed('UserCommand', matched.message);
  if (matched.links.length > 0) await scene.log.note(`symbolic links are no outputs: ${listed(matched.links)}`);
  let problem = '';
  for (let tries = 1; tries <= tuning.uploadTriesMax; tries += 1) {
    try {
      const outputs = await uploadFiles(options.outputStore, work, matched.paths, signal);
      return done({ outputs, reports: await uploadReports(context, scene, signal) });
    } catch (cause) {
      if (signal.aborted) return halted;
      problem = messageOf(cause);
      await scene.log.note(`upload failed (try ${tries} of ${tuning.uploadTriesMax}): ${problem}`);
      if (tries < tuning.uploadTriesMax) await pause(options.clock, tuning.uploadRetryMs * tries, signal);
    }
  }
  return failed('OutputUpload', `the outputs could not be uploaded: ${problem}`, { transient: true });
}

/** Reports are wanted most when something failed, and never make anything fail. */
export async function uploadReports(
  context: AttemptContext,
  scene: Scene,
  signal: AbortSignal,
): Promise<OutputRefReport[]> {
  const { work } = scene.workspace;
  if (context.spec.reports.length === 0) return [];
  try {
    const limits = limitsOf(context);
    const matched = await matchFiles({ work, globs: context.spec.reports, eachMustMatch: false, limits });
    if (matched.kind === 'matched') return await uploadFiles(context.options.outputStore, work, matched.paths, signal);
    await scene.log.note(`reports are left out: ${matched.message}`);
  } catch (cause) {
    await scene.log.note(`reports are left out: ${messageOf(cause)}`);
  }
  return [];
}

function listed(paths: readonly string[]): string {
  const shown = paths.slice(0, pathsShownMax).join(', ');
  return paths.length > pathsShownMax ? `${shown} and ${paths.length - pathsShownMax} more` : shown;
}

function limitsOf({ tuning }: AttemptContext): CollectLimits {
  return { filesMax: tuning.outputFilesMax, bytesMax: tuning.outputBytesMax, pathCharsMax: 1_024 };
}
