import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readPlanFile } from './read-plan-file.ts';

const directory = new URL('../../examples/', import.meta.url);
const files = readdirSync(directory).filter((name) => name.endsWith('.yaml'));

const exitCodes = { Succeeded: 0, Failed: 1, Cancelled: 2, Superseded: 2, TimedOut: 6 } as const;
const expectedSchema = z.record(
  z.string(),
  z.strictObject({
    result: z.enum(['Succeeded', 'Failed', 'Cancelled', 'TimedOut', 'Superseded']),
    exitCode: z.number(),
    jobs: z.record(z.string(), z.enum(['Succeeded', 'Failed', 'Cancelled', 'TimedOut', 'Skipped'])),
    gates: z.record(z.string(), z.enum(['Satisfied', 'Rejected', 'Cancelled'])).optional(),
    attempts: z.record(z.string(), z.number()).optional(),
    cacheHits: z.array(z.string()).optional(),
    needs: z.string().regex(/^(nothing|cancel|second-start|runner-killed|(approve|env|secret-command):\S+)$/),
  }),
);
const expected = expectedSchema.parse(JSON.parse(readFileSync(new URL('expected.json', directory), 'utf8')));

describe('examples', () => {
  test('each has its expected end, and nothing else has', () => {
    expect(Object.keys(expected).sort()).toEqual([...files].sort());
  });

  test.each(files)(
    '%s is a plan without problems or warnings, whose expected end names its jobs and gates',
    async (name) => {
      const result = await readPlanFile(fileURLToPath(new URL(name, directory)));
      expect(result).toMatchObject({ ok: true, warnings: name === 'supersede.yaml' ? expect.anything() : [] });
      if (!result.ok) return;
      const { jobs = {}, gates = {}, result: end = 'Succeeded', exitCode } = expected[name] ?? {};
      const nodes = result.plan.nodes;
      const groups = new Set(
        nodes.flatMap((node) => (node.kind === 'job' && node.matrix !== null ? [node.matrix.group] : [])),
      );
      const covered = nodes.filter(
        (node) =>
          node.kind === 'gate' || Object.hasOwn(jobs, node.name) || Object.hasOwn(jobs, node.matrix?.group ?? ''),
      );
      expect(covered).toHaveLength(nodes.length);
      for (const job of Object.keys(jobs))
        expect(groups.has(job) || nodes.some((node) => node.name === job)).toBe(true);
      for (const gate of Object.keys(gates))
        expect(nodes.some((node) => node.kind === 'gate' && node.name === gate)).toBe(true);
      expect(exitCode).toBe(exitCodes[end]);
    },
  );

  test.each(files)('%s says at its top what it shows and how it ends', (name) => {
    const text = readFileSync(new URL(name, directory), 'utf8');
    expect(text).toMatch(/^# .+\n(?:# .+\n)*# Expected end/);
    expect(text).toContain('# Shows: ');
  });

  test('the pipeline of this project is a plan without problems or warnings', async () => {
    const result = await readPlanFile(fileURLToPath(new URL('../../forgeyard.yaml', import.meta.url)));
    expect(result).toMatchObject({ ok: true, warnings: [] });
  });
});
