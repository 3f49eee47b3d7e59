/** The last word of an attempt: complete, fail or terminated, said until it is answered (000 §114, §342). */
import type { ProcessExitReport, RunnerRequest } from '../protocol/index.ts';
import { encodeRequest } from '../protocol/index.ts';
import { removeWorkspace } from '../workspace/workspace.ts';
import type { AttemptContext } from './attempt-context.ts';
import { authorised, failpoint } from './attempt-context.ts';
import type { HaltReason } from './attempt-control.ts';
import { isDiskFull } from './disk-room.ts';
import type { AttemptEnd } from './events.ts';
import type { AttemptFailure, Outcome } from './outcome.ts';
import { done, unlessHalted } from './outcome.ts';
import { askInOrder } from './phase-messages.ts';
import type { Scene } from './scene.ts';
import type { Uploaded } from './upload.ts';
import { uploadReports, uploadResults } from './upload.ts';

export interface Finished {
  readonly exit: ProcessExitReport;
  readonly uploaded: Uploaded;
}

const detailCharsMax = 2_000;

export async function conclude(
  context: AttemptContext,
  scene: Scene | null,
  outcome: Outcome<Finished>,
): Promise<AttemptEnd> {
  const reason = context.control.reason();
  if (reason?.kind === 'lost') return { kind: 'abandoned', why: reason.why };
  context.control.enter('finished');
  switch (outcome.kind) {
    case 'done':
      return scene === null ? broken() : await complete(context, scene, outcome.value);
    case 'failed':
      return await fail(context, scene, outcome.failure);
    case 'halted':
      return reason === null ? broken() : await sayHalted(context, scene, reason);
    default:
      return outcome satisfies never;
  }
}

async function complete(context: AttemptContext, scene: Scene, finished: Finished): Promise<AttemptEnd> {
  let { uploaded } = finished;
  for (let tries = 1; ; tries += 1) {
    const log = scene.log.reference;
    const message: RunnerRequest = { type: 'complete', ...authorised(context), exit: finished.exit, ...uploaded, log };
    const encoded = encodeRequest(message);
    if (!encoded.ok)
      return await fail(context, scene, plainFailure('UserCommand', `too many outputs: ${encoded.problem}`));
    await scene.log.settle();
    const asking = askInOrder(context, message, context.control.lost);
    await failpoint(context, 'completionSent');
    const reply = await asking;
    if (reply?.type !== 'rejected' || reply.code !== 'OutputsUnverified')
      return endOf(context, reply, { kind: 'completed' });
    await scene.log.note(`outputs were not accepted, uploading again: ${reply.message}`);
    if (tries >= context.tuning.uploadTriesMax) {
      return await fail(
        context,
        scene,
        plainFailure('OutputUpload', `outputs stay unverified: ${reply.message}`, true),
      );
    }
    const { lost } = context.control;
    const again = await unlessHalted(uploadResults(context, scene, lost), lost);
    if (again.kind === 'failed') return await fail(context, scene, again.failure);
    if (again.kind === 'halted') return await conclude(context, scene, again);
    uploaded = again.value;
  }
}

async function sayHalted(context: AttemptContext, scene: Scene | null, reason: HaltReason): Promise<AttemptEnd> {
  switch (reason.kind) {
    case 'cancel':
      return await terminated(context, scene, reason);
    case 'timeout':
      return await fail(
        context,
        scene,
        plainFailure('Timeout', `the ${reason.timeout} timeout of ${reason.ms} ms was reached`),
      );
    case 'shutdown':
      return await fail(context, scene, plainFailure('Infrastructure', 'the runner is shutting down', true));
    case 'lost':
      return { kind: 'abandoned', why: reason.why };
    default:
      return reason satisfies never;
  }
}

async function terminated(
  context: AttemptContext,
  scene: Scene | null,
  { intent, confirmed }: Extract<HaltReason, { kind: 'cancel' }>,
): Promise<AttemptEnd> {
  const end: AttemptEnd = { kind: 'terminated', intent };
  await scene?.log.note(`terminated: ${intent}`);
  if (confirmed) return end;
  const reports = await reportsOf(context, scene);
  await scene?.log.settle();
  const log = scene?.log.reference ?? null;
  const message: RunnerRequest = { type: 'terminated', ...authorised(context), exit: null, reports, log };
  return endOf(context, await askInOrder(context, fitting(message), context.control.lost), end);
}

async function fail(context: AttemptContext, scene: Scene | null, failure: AttemptFailure): Promise<AttemptEnd> {
  const { failureClass, transient, exit, step, stepIndex } = failure;
  const text = failure.message.slice(0, detailCharsMax);
  await scene?.log.note(`failed (${failureClass}): ${text}`);
  const reports = await reportsOf(context, scene);
  if (scene !== null) await makeRoom(context, scene);
  await scene?.log.settle();
  const detail = { step, stepIndex, message: text };
  const log = scene?.log.reference ?? null;
  const common = authorised(context);
  const message: RunnerRequest = { type: 'fail', ...common, failureClass, transient, exit, detail, reports, log };
  const end: AttemptEnd = { kind: 'failed', failureClass, message: text };
  return endOf(context, await askInOrder(context, fitting(message), context.control.lost), end);
}

/** What filled the disk goes before the end is said: whoever hears of it may have to write it to the same disk. */
async function makeRoom({ options, tuning }: AttemptContext, scene: Scene): Promise<void> {
  if (!(await isDiskFull(options, tuning).catch(() => false))) return;
  if (tuning.keepFailed) return await scene.log.note('the disk is full (ENOSPC); the workspace is kept all the same');
  await scene.workload.terminate(0);
  await removeWorkspace(scene.workspace.directory);
  await scene.log.note('the disk is full (ENOSPC): the workspace was removed before the end was said');
}

type Reply = Awaited<ReturnType<typeof askInOrder>>;

function endOf(context: AttemptContext, reply: Reply, end: AttemptEnd): AttemptEnd {
  if (reply === null) {
    const reason = context.control.reason();
    return { kind: 'abandoned', why: reason?.kind === 'lost' ? reason.why : 'no answer' };
  }
  if (reply.type === 'rejected') return { kind: 'abandoned', why: `${end.kind} was rejected: ${reply.code}` };
  if (reply.type === 'directive' && reply.directive.kind === 'stale') return { kind: 'abandoned', why: 'stale' };
  return end;
}

async function reportsOf(context: AttemptContext, scene: Scene | null) {
  if (scene === null) return [];
  // The end must be said in any case: reports get a bounded time.
  const late = new AbortController();
  const { clock } = context.options;
  const cancelTimer = clock.setTimer(() => late.abort(), context.tuning.reportUploadMs);
  const signal = AbortSignal.any([context.control.lost, late.signal]);
  const uploaded = await unlessHalted(uploadReports(context, scene, signal).then(done), signal);
  cancelTimer();
  return uploaded.kind === 'done' ? uploaded.value : [];
}

/** The end itself must get through; a list of reports that is too long for a message is left out. */
function fitting<M extends Extract<RunnerRequest, { type: 'fail' | 'terminated' }>>(message: M): M {
  return encodeRequest(message).ok ? message : { ...message, reports: [] };
}

function plainFailure(failureClass: string, message: string, transient = false): AttemptFailure {
  return { failureClass, transient, exit: null, step: null, stepIndex: null, message };
}

function broken(): never {
  throw new Error('an attempt ended without a result, a failure or a reason');
}
