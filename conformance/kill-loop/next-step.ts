/** The one next step of a run whose jobs are done one after the other; its message is named after the step. */
import type { RunRows, Step } from '../../store/suite/index.ts';
import { acceptStep, completeStep, grantStep, jobAt, phaseStep } from '../../store/suite/index.ts';

export function nextStep(rows: RunRows, now: number): Step {
  const open = rows.nodes.find((node) => node.finishedAt === null);
  if (open === undefined) throw new Error(`run ${rows.run.id} has ended`);
  const job = jobAt(rows, open.index);
  const step = { index: job.index, now, message: `${job.id}-after-${job.state}` };
  switch (job.state) {
    case 'Eligible':
      return grantStep(rows, step);
    case 'Leased':
      return acceptStep(rows, step);
    case 'Preparing':
    case 'Running':
      return phaseStep(rows, step);
    case 'UploadingOutputs':
      return completeStep(rows, step);
    default:
      throw new Error(`job ${job.id} is ${job.state}, which these histories never reach`);
  }
}
