import type { Step } from './steps.ts';

export interface StepResult {
  readonly name: string;
  readonly passed: boolean;
  readonly seconds: number;
  readonly output: string;
}

export interface RunOptions {
  readonly lanes: number;
  readonly execute: (step: Step) => Promise<StepResult>;
  readonly onResult: (result: StepResult) => void;
}

/**
 * Runs every step, at most `lanes` at a time, in list order as far as `after` allows. A failed step stops nothing:
 * one run shows all there is to mend.
 */
export async function runSteps(steps: readonly Step[], options: RunOptions): Promise<readonly StepResult[]> {
  const waiting = [...steps];
  const running = new Map<string, Promise<string>>();
  const results = new Map<string, StepResult>();
  const known = new Set(steps.map((step) => step.name));
  const ready = (step: Step): boolean => step.after.every((name) => results.has(name) || !known.has(name));

  const start = async (step: Step): Promise<string> => {
    const result = await options.execute(step);
    results.set(step.name, result);
    options.onResult(result);
    return step.name;
  };

  while (waiting.length > 0 || running.size > 0) {
    for (
      let next = waiting.findIndex(ready);
      next >= 0 && running.size < options.lanes;
      next = waiting.findIndex(ready)
    ) {
      for (const step of waiting.splice(next, 1)) running.set(step.name, start(step));
    }
    if (running.size === 0)
      throw new Error(`steps wait for each other: ${waiting.map((step) => step.name).join(', ')}`);
    running.delete(await Promise.race(running.values()));
  }
  return [...results.values()];
}
