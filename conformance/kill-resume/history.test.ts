import { describe, expect, it } from 'vitest';
import type { ShownFact } from './history.ts';
import { historyProblems } from './history.ts';

const fact = (sequence: number, type: string, to: string): ShownFact => ({
  sequence,
  type,
  to,
  entity: type.startsWith('Attempt') ? 'attempt' : 'job',
  entityId: 'x',
  node: 'a',
});

describe('history after kills', () => {
  it('a sound one has no problems', () => {
    expect(historyProblems([fact(1, 'JobStarted', 'Running'), fact(2, 'JobSucceeded', 'Succeeded')])).toEqual([]);
  });
  it('a gap, a success that is lost again, and an attempt that ends twice are found', () => {
    expect(historyProblems([fact(2, 'JobStarted', 'Running')])).toHaveLength(1);
    expect(historyProblems([fact(1, 'JobSucceeded', 'Succeeded'), fact(2, 'JobLost', 'Lost')])).toHaveLength(1);
    expect(historyProblems([fact(1, 'AttemptEnded', 'Lost'), fact(2, 'AttemptEnded', 'Succeeded')])).toHaveLength(1);
  });
});
