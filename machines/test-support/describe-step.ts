import type { Step } from '../charts/chart.ts';

/** One line per decision, so that a difference between two sources reads as two sentences. Effects are a set. */
export function describeStep(step: Step): string {
  switch (step.kind) {
    case 'move':
      return describeMove(step.target, step.effects);
    case 'answer':
      return `answer ${step.code}`;
    case 'refuse':
      return `refuse ${step.code}`;
    case 'decideAs':
      return `as ${step.event}`;
  }
}

export const describeMove = (target: string, effects: readonly string[]): string =>
  [`${target}:`, ...[...effects].sort()].join(' ');
