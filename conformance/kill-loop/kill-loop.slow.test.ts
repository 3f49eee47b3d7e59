import { describe, expect, it } from 'vitest';
import { fallsShort, runKillLoop } from './index.ts';

describe('kill loop', () => {
  it('nothing acknowledged is lost, nothing happens twice, the file stays sound (000 §376.26)', async () => {
    const problems: string[] = [];
    const tally = await runKillLoop({ kills: 24, seed: 1, report: (problem) => problems.push(problem) });
    expect(problems).toEqual([]);
    expect(tally).toMatchObject({ kills: 24, lost: 0, twice: 0, integrityFailures: 0, seed: 1 });
    expect(fallsShort(tally, 24)).toBe(false);
  });

  it('notices a worker that acknowledges what it never committed', async () => {
    const worker = new URL('test-support/lying-worker.ts', import.meta.url);
    const problems: string[] = [];
    const tally = await runKillLoop({ kills: 4, seed: 3, worker, report: (problem) => problems.push(problem) });
    expect(tally.lost).toBeGreaterThan(0);
    expect(problems.join('\n')).toContain('never-0');
    expect(fallsShort(tally, 4)).toBe(true);
  });

  it('a worker that ends by itself is a failure of the loop, not a kill', async () => {
    const worker = new URL('no-such-worker.ts', import.meta.url);
    await expect(runKillLoop({ kills: 8, seed: 3, worker })).rejects.toThrow('ended by itself');
  });
});
