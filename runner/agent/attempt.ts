/**
 * One accepted attempt from preparation to its last word. The phases are read top to bottom in `work`;
 * each returns a value, and the first that is not `done` goes straight to the report.
 */

import type { ProcessExitReport } from '../protocol/index.ts';
import type { AttemptContext } from './attempt-context.ts';
import { authorised, failpoint, startTimeout } from './attempt-context.ts';
import type { HaltReason } from './attempt-control.ts';
import type { Finished } from './conclude.ts';
import { conclude } from './conclude.ts';
import type { AttemptEnd } from './events.ts';
import type { Outcome } from './outcome.ts';
import { done, failed, halted, messageOf, unlessHalted } from './outcome.ts';
import { sendPhase } from './phase-messages.ts';
import { prepare } from './prepare.ts';
import { runSteps } from './run-steps.ts';
import type { Scene } from './scene.ts';
import { openScene } from './scene.ts';
import { uploadResults } from './upload.ts';

export async function runAttempt(context: AttemptContext): Promise<AttemptEnd> {
  context.control.enter('preparing');
  const opened = await openScene(context).then<Outcome<Scene>, Outcome<Scene>>(done, (cause: unknown) =>
    failed('SandboxSetup', `the workspace could not be made: ${messageOf(cause)}`, { transient: true }),
  );
  if (opened.kind !== 'done') return await conclude(context, null, opened);
  const scene = opened.value;
  let end: AttemptEnd | null = null;
  try {
    const outcome = await work(context, scene).catch(unexpected);
    end = await conclude(context, scene, outcome);
    return end;
  } finally {
    scene.log.declareOver();
    await scene.workload.terminate(0);
    await scene.close({ keepWorkspace: context.tuning.keepFailed && end?.kind !== 'completed' });
  }
}

async function work(context: AttemptContext, scene: Scene): Promise<Outcome<Finished>> {
  const { control, spec } = context;
  const { executionMs, executionIncludesPreparation } = spec.timeouts;
  const cancelTimeout = startTimeout(context, 'execution', executionIncludesPreparation ? executionMs : null);
  let exit: ProcessExitReport;
  try {
    const prepared = await prepare(context, scene);
    if (prepared.kind !== 'done') return prepared;
    control.enter('running');
    const ran = await runSteps(context, scene, prepared.value);
    if (ran.kind !== 'done') return ran;
    exit = ran.value;
  } finally {
    cancelTimeout();
  }
  const answer = await sendPhase(context, { type: 'finish', ...authorised(context), exit }, control.lost);
  control.enter('uploading');
  // An intent that is learnt only now does not undo finished work: what it means for it is the plan's
  // choice, made by the control plane when the completion arrives.
  if (answer === 'stop' && !leavesUpload(control.reason())) return halted;
  return await upload(context, scene, exit);
}

async function upload(context: AttemptContext, scene: Scene, exit: ProcessExitReport): Promise<Outcome<Finished>> {
  const { control, spec } = context;
  const cancelTimeout = startTimeout(context, 'upload', spec.timeouts.uploadMs);
  const stop = stopOfUpload(context);
  try {
    const uploaded = await unlessHalted(uploadResults(context, scene, stop.signal), stop.signal);
    if (uploaded.kind !== 'done') return uploaded;
    await failpoint(context, 'outputsUploaded');
    if (control.reason()?.kind === 'timeout') return halted;
    return done({ exit, uploaded: uploaded.value });
  } finally {
    cancelTimeout();
    stop.close();
  }
}

/** Finished work is worth delivering also when it is cancelled or the runner shuts down meanwhile. */
function leavesUpload(reason: HaltReason | null): boolean {
  return reason?.kind === 'cancel' || reason?.kind === 'shutdown';
}

/** A cancel leaves a running upload half of the grace, a shutdown its own grace; other reasons stop it at once. */
function stopOfUpload({ control, spec, options }: AttemptContext) {
  const stop = new AbortController();
  let cancelTimer: () => void = noTimer;
  const onHalt = () => {
    const reason = control.reason();
    if (!leavesUpload(reason)) stop.abort();
    else if (reason?.kind === 'cancel')
      cancelTimer = options.clock.setTimer(() => stop.abort(), spec.timeouts.terminationGraceMs / 2);
  };
  const onLost = () => stop.abort();
  if (control.halted.aborted) onHalt();
  control.halted.addEventListener('abort', onHalt, { once: true });
  control.lost.addEventListener('abort', onLost, { once: true });
  return {
    signal: stop.signal,
    close() {
      cancelTimer();
      control.halted.removeEventListener('abort', onHalt);
      control.lost.removeEventListener('abort', onLost);
    },
  };
}

const noTimer = () => undefined;

/** A fault of the agent itself or of the machine under it; the job is not to blame. */
function unexpected(cause: unknown): Outcome<never> {
  return failed('Infrastructure', `the runner failed: ${messageOf(cause)}`, { transient: true });
}
