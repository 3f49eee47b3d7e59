/**
 * The tests of the actor runtime over a store, against public interfaces and a test runner handed in.
 *
 *   runtimeSuite({ describe, it, expect }, 'mine', { open: async ({ clock }) => openMine(clock) });
 */
import type { MakeStore, SuiteRunner } from '../../store/suite/index.ts';
import { authorityTests } from './authority.ts';
import { boundTests } from './bounds.ts';
import { controlTests } from './control.ts';
import { creationTests } from './creation.ts';
import { deadlineTests } from './deadlines.ts';
import { dependencyTests } from './dependencies.ts';
import type { RuntimeSuiteOptions } from './kit.ts';
import { createKit } from './kit.ts';
import { messageTests } from './messages.ts';
import { outageTests } from './outage.ts';
import { outputTests } from './outputs.ts';
import { raceTests } from './races.ts';
import { recoveryTests } from './recovery.ts';
import { schedulingTests } from './scheduling.ts';
import { sessionTests } from './sessions.ts';

export function runtimeSuite(
  runner: SuiteRunner,
  name: string,
  make: MakeStore,
  options: RuntimeSuiteOptions = {},
): void {
  runner.describe(`runtime: ${name}`, () => {
    const kit = createKit(runner, make, options);
    creationTests(kit);
    authorityTests(kit);
    messageTests(kit);
    raceTests(kit);
    deadlineTests(kit);
    controlTests(kit);
    schedulingTests(kit);
    sessionTests(kit);
    outageTests(kit);
    dependencyTests(kit);
    outputTests(kit);
    recoveryTests(kit);
    boundTests(kit);
  });
}
