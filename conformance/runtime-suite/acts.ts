/** Scenes that many tests begin with. */
import type { RunId } from '../../machines/index.ts';
import type { JobFile } from '../../machines/plan/index.ts';
import { job } from '../../machines/plan/index.ts';
import type { Offer } from '../../runner/protocol/index.ts';
import type { RunHeader } from '../core/index.ts';
import type { Host, ScriptedRunner, Stage } from '../testkit/index.ts';

export type Phase = 'Leased' | 'Preparing' | 'Running' | 'UploadingOutputs';
export const activePhases: readonly Phase[] = ['Leased', 'Preparing', 'Running', 'UploadingOutputs'];

export interface Scene {
  readonly host: Host;
  readonly run: RunId;
  readonly runner: ScriptedRunner;
  /** Of job `a`. */
  readonly offer: Offer;
}

/** A run whose job `a` has come as far as `phase`, held by runner ada. */
export async function sceneAt(
  stage: Stage,
  phase: Phase,
  written: Partial<JobFile> = {},
  options: { readonly host?: Host; readonly header?: RunHeader } = {},
): Promise<Scene> {
  const host = options.host ?? (await stage.host());
  const run = await stage.create(host, [job('a', written)], options.header);
  const runner = await stage.runner(host, 'ada');
  const offer = await runner.take('a');
  await advanceTo(runner, offer, phase);
  return { host, run, runner, offer };
}

export async function advanceTo(runner: ScriptedRunner, offer: Offer, phase: Phase): Promise<void> {
  if (phase === 'Leased') return;
  await runner.accept(offer);
  if (phase === 'Preparing') return;
  await runner.start(offer);
  if (phase === 'Running') return;
  await runner.finish(offer);
}
