/** One step: a process group, its logs, its end (000 §94-97). */
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pause } from '../clock.ts';
import type { StepLog } from '../logs/attempt-log.ts';
import type { LaunchedProcess } from '../process/launch.ts';
import { launch } from '../process/launch.ts';
import type { ProcessExitReport, WireStepSpec } from '../protocol/index.ts';
import { createRedactor } from '../redact/redactor.ts';
import { below } from '../workspace/safe-path.ts';
import type { AttemptContext } from './attempt-context.ts';
import { attemptId, failpoint, startTimeout, terminationGraceMs } from './attempt-context.ts';
import { buildEnvironment } from './environment.ts';
import type { Outcome } from './outcome.ts';
import { done, failed, halted } from './outcome.ts';
import type { Secrets } from './prepare.ts';
import type { Scene } from './scene.ts';

export interface StepRun {
  readonly context: AttemptContext;
  readonly scene: Scene;
  readonly secrets: Secrets;
  readonly forms: readonly Uint8Array[];
  readonly step: WireStepSpec;
  readonly index: number;
}

/** The system's codes for a program that is not there or cannot be run. */
const missingProgram: ReadonlySet<string> = new Set(['ENOENT', 'EACCES', 'ENOEXEC', 'ENOTDIR']);

export async function runStep(run: StepRun): Promise<Outcome<ProcessExitReport>> {
  const { context, scene, step, index } = run;
  const place = { step: step.name, stepIndex: index };
  const cwd = await workingDirectory(run);
  if (cwd === null) {
    return failed('UserCommand', `the working directory ${wanted(run)} is not in the workspace`, place);
  }
  await letKeeperSpeak(run);
  if (context.control.halted.aborted) return halted;
  const log = await scene.log.openStep(index, step.name, context.spec.steps.length);
  const launched = await launch({
    argv: await argvOf(run),
    cwd,
    env: environmentOf(run),
    output: redactedOutput(log, run.forms),
  });
  if (launched.kind === 'failed') {
    const failureClass = missingProgram.has(launched.code) ? 'ToolchainUnavailable' : 'Infrastructure';
    const transient = failureClass === 'Infrastructure';
    return failed(failureClass, `the step could not be started: ${launched.message}`, { ...place, transient });
  }
  const { process } = launched;
  const { group } = process;
  scene.launched.push(process);
  await scene.workload.add(group);
  context.options.onEvent({ kind: 'stepStarted', attempt: attemptId(context), step: step.name, group });
  if (index === 0) await failpoint(context, 'midWorkload');
  const exit = await untilEnded(run, process);
  if (exit === null) return halted;
  context.options.onEvent({ kind: 'stepEnded', attempt: attemptId(context), step: step.name, exit });
  await scene.workload.leaderEnded(group);
  if (context.control.halted.aborted) return halted;
  if (exit.code === 0) return done(exit);
  return failed(step.failureClass ?? 'UserCommand', endText(exit), { ...place, exit });
}

/** Past the deadline as known here, either a renewal or the loss of the lease waits to be read. */
async function letKeeperSpeak({ context: { control, options } }: StepRun): Promise<void> {
  if (options.clock.monotonic() >= control.deadline()) await pause(options.clock, 1, control.halted);
}

/** Null where the attempt was halted; the exit then belongs to the termination. */
async function untilEnded(
  { context, scene, step }: StepRun,
  process: LaunchedProcess,
): Promise<ProcessExitReport | null> {
  const { control, options, tuning } = context;
  const cancelTimeout = startTimeout(context, 'step', step.timeoutMs);
  const halt = aborted(control.halted);
  const exit = await Promise.race([process.exited, halt.promise]);
  cancelTimeout();
  halt.stop();
  if (exit === null) {
    await scene.workload.terminate(terminationGraceMs(context));
    await drain(process);
    return null;
  }
  await drain(process);
  return exit;

  async function drain(ended: LaunchedProcess): Promise<void> {
    const stop = new AbortController();
    await Promise.race([ended.drained, pause(options.clock, tuning.outputDrainMs, stop.signal)]);
    stop.abort();
  }
}

function redactedOutput(log: StepLog, forms: readonly Uint8Array[]) {
  // One redactor per stream: a secret is never cut across the two.
  const redactors = { stdout: createRedactor(forms), stderr: createRedactor(forms) };
  return async (stream: 'stdout' | 'stderr', chunk: Uint8Array | null) => {
    await log.write(chunk === null ? redactors[stream].flush() : redactors[stream].push(chunk));
  };
}

function wanted({ context, step }: StepRun): string {
  return step.workingDirectory ?? context.spec.workingDirectory ?? '.';
}

async function workingDirectory(run: StepRun): Promise<string | null> {
  const path = below(run.scene.workspace.work, wanted(run));
  if (path === null) return null;
  return await stat(path).then(
    (stats) => (stats.isDirectory() ? path : null),
    () => null,
  );
}

async function argvOf({ scene, step, index }: StepRun): Promise<readonly string[]> {
  switch (step.command.kind) {
    case 'argv':
      return step.command.argv;
    case 'script': {
      const path = join(scene.workspace.private, `step-${index + 1}`);
      await writeFile(path, step.command.script, { mode: 0o600 });
      return [...step.command.shell, path];
    }
    default:
      return step.command satisfies never;
  }
}

function environmentOf({ context, scene, secrets, step }: StepRun) {
  const { options, offer, spec } = context;
  const sourceDir = options.sourceDir?.(offer.authority.run) ?? null;
  return buildEnvironment({ host: options.env, offer, spec, step, work: scene.workspace.work, sourceDir, secrets });
}

function endText(exit: ProcessExitReport): string {
  return exit.signal === null ? `the step exited with code ${exit.code}` : `the step was ended by ${exit.signal}`;
}

function aborted(signal: AbortSignal): { readonly promise: Promise<null>; stop(): void } {
  const { promise, resolve } = Promise.withResolvers<null>();
  const listener = () => resolve(null);
  if (signal.aborted) resolve(null);
  signal.addEventListener('abort', listener, { once: true });
  return { promise, stop: () => signal.removeEventListener('abort', listener) };
}
