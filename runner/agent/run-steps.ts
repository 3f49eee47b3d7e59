/** Runs the steps in order until one fails, the attempt is halted, or all have succeeded. */

import type { ProcessExitReport } from '../protocol/index.ts';
import { secretForms } from '../redact/secret-forms.ts';
import type { AttemptContext } from './attempt-context.ts';
import { startTimeout, terminationGraceMs } from './attempt-context.ts';
import type { Outcome } from './outcome.ts';
import { done, halted } from './outcome.ts';
import type { Secrets } from './prepare.ts';
import { createProgress } from './progress.ts';
import { runStep } from './run-step.ts';
import type { Scene } from './scene.ts';

/** Background processes of finished steps get this long to end on TERM. */
const backgroundGraceMs = 500;

/** `exit` is that of the last step. */
export async function runSteps(
  context: AttemptContext,
  scene: Scene,
  secrets: Secrets,
): Promise<Outcome<ProcessExitReport>> {
  const { spec } = context;
  const cancelTimeout = spec.timeouts.executionIncludesPreparation
    ? () => undefined
    : startTimeout(context, 'execution', spec.timeouts.executionMs);
  const forms = secretForms([...secrets.values()]);
  const progress = createProgress(context);
  try {
    let exit: ProcessExitReport = { code: 0, signal: null };
    for (const [index, step] of spec.steps.entries()) {
      if (context.control.halted.aborted) return halted;
      progress.report(step.name, index / spec.steps.length);
      const ended = await runStep({ context, scene, secrets, forms, step, index });
      if (ended.kind !== 'done') return ended;
      exit = ended.value;
    }
    return done(exit);
  } finally {
    cancelTimeout();
    progress.close();
    // Nothing of the workload may change files while outputs are read, or live on after the attempt.
    const grace = context.control.halted.aborted ? terminationGraceMs(context) : backgroundGraceMs;
    await scene.workload.terminate(grace);
  }
}
