/** Before the first step: sources, inputs, secrets; then the question whether to start (000 §38, §63). */
import { resolveSecrets } from '../secrets/resolve-secrets.ts';
import { placeInputs } from '../workspace/place-inputs.ts';
import type { AttemptContext } from './attempt-context.ts';
import { startTimeout } from './attempt-context.ts';
import { inputsOf } from './fetch-inputs.ts';
import type { Outcome } from './outcome.ts';
import { done, failed, halted, messageOf, unlessHalted } from './outcome.ts';
import { sendPhase, startMessage } from './phase-messages.ts';
import type { Scene } from './scene.ts';

export type Secrets = ReadonlyMap<string, string>;

export async function prepare(context: AttemptContext, scene: Scene): Promise<Outcome<Secrets>> {
  const cancelTimeout = startTimeout(context, 'preparation', context.spec.timeouts.preparationMs);
  try {
    const { halted: signal } = context.control;
    const placed = await unlessHalted(fillWorkspace(context, scene), signal);
    if (placed.kind !== 'done') return placed;
    const secrets = await unlessHalted(secretsOf(context), signal);
    if (secrets.kind !== 'done') return secrets;
    const answer = await sendPhase(context, startMessage(context), context.control.halted);
    return answer === 'continue' ? secrets : halted;
  } finally {
    cancelTimeout();
  }
}

async function fillWorkspace(context: AttemptContext, scene: Scene): Promise<Outcome<null>> {
  const { options, control, offer } = context;
  const signal = control.halted;
  try {
    await options.populateWorkspace?.(scene.workspace.work, offer, signal);
  } catch (cause) {
    if (signal.aborted) return halted;
    return failed('SandboxSetup', `the workspace could not be filled: ${messageOf(cause)}`, { transient: true });
  }
  const placed = await placeInputs({
    work: scene.workspace.work,
    store: options.outputStore,
    inputs: inputsOf(context),
    signal,
  });
  if (signal.aborted || placed.kind === 'halted') return halted;
  if (placed.kind === 'failed') return failed('InputFetch', placed.message, { transient: placed.transient });
  if (placed.files > 0) await scene.log.note(`placed ${placed.files} files of ${namesOf(placed.jobs)}`);
  return done(null);
}

async function secretsOf({ options, control, spec }: AttemptContext): Promise<Outcome<Secrets>> {
  const resolved = await resolveSecrets({
    references: spec.secrets,
    providers: options.secretProviders,
    env: options.env,
    signal: control.halted,
  });
  if (control.halted.aborted) return halted;
  // Another attempt on this runner would miss the same secret.
  return resolved.kind === 'resolved' ? done(resolved.values) : failed('InputFetch', resolved.message);
}

/** Jobs named in a note; a fan-in over thousands is counted. */
const namedMax = 10;

function namesOf(jobs: ReadonlySet<string>): string {
  const named = [...jobs].slice(0, namedMax).join(', ');
  return jobs.size > namedMax ? `${named} and ${jobs.size - namedMax} others` : named;
}
