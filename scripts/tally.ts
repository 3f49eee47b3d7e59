/**
 * `node scripts/tally.ts REPORT.json…`: the closing line of CI, `N passed, N failed`: every test of every vitest report
 * named, plus every step of `verify` that is no test run (one each). What left no report counts as failed.
 */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';

const verifyReport = z.object({ steps: z.array(z.object({ name: z.string(), passed: z.boolean() })) });
const testReport = z.object({
  success: z.boolean(),
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
});

interface Count {
  readonly passed: number;
  readonly failed: number;
}

async function read<T>(file: string, schema: z.ZodType<T>): Promise<T | null> {
  if (!existsSync(file)) return null;
  return schema.parse(JSON.parse(await readFile(file, 'utf8')));
}

async function countTests(file: string): Promise<Count> {
  const report = await read(file, testReport);
  if (report === null) return { passed: 0, failed: 1 };
  const failed = report.numFailedTests + report.numPendingTests + report.numTodoTests;
  // A run can fail without a failing test: a file that does not load, an unhandled rejection.
  return { passed: report.numPassedTests, failed: failed === 0 && !report.success ? 1 : failed };
}

async function countSteps(file: string): Promise<Count> {
  const report = await read(file, verifyReport);
  if (report === null) return { passed: 0, failed: 1 };
  const others = report.steps.filter((step) => step.name !== 'test:fast' && step.name !== 'test:slow');
  const passed = others.filter((step) => step.passed).length;
  return { passed, failed: others.length - passed };
}

const reports = process.argv.slice(2);
const counts: (readonly [string, Count])[] = [['verify steps', await countSteps('reports/verify.json')]];
for (const file of reports) counts.push([file, await countTests(file)]);
for (const [name, { passed, failed }] of counts) console.log(`${name}: ${passed} passed / ${failed} failed`);
const total = counts.reduce(
  (sum, [, each]) => ({ passed: sum.passed + each.passed, failed: sum.failed + each.failed }),
  {
    passed: 0,
    failed: 0,
  },
);
console.log(`${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0;
