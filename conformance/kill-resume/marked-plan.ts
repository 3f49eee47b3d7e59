/**
 * A plan in which every attempt leaves a mark before it does anything: a file that must not be there yet. A second
 * start of the same attempt finds the mark of the first one, says so in `doubles`, and fails.
 */
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const planShape = z.looseObject({
  jobs: z.record(z.string(), z.looseObject({ steps: z.array(z.unknown()) })),
});

export interface MarkPlaces {
  readonly marks: string;
  readonly doubles: string;
}

export function markPlaces(directory: string): MarkPlaces {
  return { marks: join(directory, 'marks'), doubles: join(directory, 'doubles') };
}

/** JSON, which is a plan too. The marking step reads nothing but its environment, so equal jobs stay equal. */
export function markedPlan(yaml: string, { marks, doubles }: MarkPlaces): string {
  const plan = planShape.parse(parse(yaml, { merge: false }));
  const mark = `"$FORGEYARD_RUN_ID.$FORGEYARD_JOB_ID.$FORGEYARD_ATTEMPT"`;
  const step = {
    name: 'mark',
    run: `set -C\n( : > '${marks}'/${mark} ) || { echo ${mark} >> '${doubles}'; exit 1; }`,
  };
  const jobs = Object.fromEntries(
    Object.entries(plan.jobs).map(([name, job]) => [name, { ...job, steps: [step, ...job.steps] }]),
  );
  return JSON.stringify({ ...plan, jobs }, null, 2);
}
