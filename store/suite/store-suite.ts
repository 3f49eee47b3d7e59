/**
 * The suite every store must pass, written against the contract alone and a test runner handed in.
 *
 *   storeSuite({ describe, it, expect }, 'mine', { open: async ({ clock, hook }) => openMine(clock, hook) });
 */
import { claimTests } from './claim-tests.ts';
import { commitTests } from './commit-tests.ts';
import { crashTests } from './crash-tests.ts';
import { leaseTests } from './lease-tests.ts';
import { readTests } from './read-tests.ts';
import { rowTests } from './row-tests.ts';
import type { MakeStore, SuiteRunner } from './subject.ts';

export function storeSuite(runner: SuiteRunner, name: string, make: MakeStore): void {
  runner.describe(`store: ${name}`, () => {
    commitTests(runner, make);
    rowTests(runner, make);
    crashTests(runner, make);
    leaseTests(runner, make);
    claimTests(runner, make);
    readTests(runner, make);
  });
}
