/** How the suite's tests are told: each on a stage of its own, whose history every checker has looked at in the end. */

import type { Limits } from '../../machines/index.ts';
import type { Store } from '../../store/index.ts';
import type { MakeStore, SuiteExpectation, SuiteRunner } from '../../store/suite/index.ts';
import type { Host, Stage } from '../testkit/index.ts';
import { openStage } from '../testkit/index.ts';

export interface RuntimeSuiteOptions {
  /** What every runtime sees of the store; the suite then leaves out what is about faults of its own making. */
  readonly disturb?: (store: Store) => Store;
}

export interface TestOptions {
  readonly limits?: Partial<Limits>;
}

export interface Kit {
  describe(name: string, body: () => void): void;
  /** Of calm tests only. */
  calmDescribe(name: string, body: () => void): void;
  expect(actual: unknown): SuiteExpectation;
  /** What loops reported, the faults that the suite itself made left out. */
  reports(host: Host): readonly string[];
  /** Lets follow-ups happen. In a storm they may be lost: passes of the reconcilers make up for them. */
  heal(stage: Stage, host: Host): Promise<void>;
  /** ms in which a loop that failed has tried again. */
  readonly patienceMs: number;
  test(name: string, body: (stage: Stage) => Promise<void>, options?: TestOptions): void;
  /** Makes its own faults, or counts calls: not told in a storm. */
  calmTest(name: string, body: (stage: Stage) => Promise<void>, options?: TestOptions): void;
}

/** Passes of the reconcilers in which every fault has had its turn. */
const passesMax = 30;

export function createKit(runner: SuiteRunner, make: MakeStore, options: RuntimeSuiteOptions): Kit {
  const { disturb } = options;
  const test: Kit['test'] = (name, body, { limits } = {}) => {
    runner.it(name, async () => {
      const stage = await openStage({
        openStore: ({ clock }) => make.open({ clock, hook: () => {} }),
        ...(make.reopen === undefined ? {} : { reopenStore: ({ clock }) => reopen(make, clock) }),
        ...(disturb === undefined ? {} : { disturb }),
        ...(limits === undefined ? {} : { limits }),
      });
      try {
        await body(stage);
        await stage.settle();
        runner.expect(await stage.problems()).toEqual([]);
      } finally {
        await stage.close();
        await make.remove?.();
      }
    });
  };
  return {
    describe: (name, body) => runner.describe(name, body),
    calmDescribe: (name, body) => {
      if (disturb === undefined) runner.describe(name, body);
    },
    expect: (actual) => runner.expect(actual),
    reports: ({ reports }) => reports.filter((one) => disturb === undefined || !one.includes('StoreUnavailable')),
    async heal(stage, host) {
      if (disturb === undefined) return stage.settle();
      for (let passes = 0, quiet = 0; passes < passesMax && quiet < 2; passes += 1) {
        const before = host.reports.length;
        await host.runtime.tick();
        await stage.settle();
        quiet = host.reports.length === before ? quiet + 1 : 0;
      }
    },
    patienceMs: disturb === undefined ? 1_000 : 6_000,
    test,
    calmTest: disturb === undefined ? test : () => {},
  };
}

function reopen(make: MakeStore, clock: { now(): number }): Promise<Store> {
  if (make.reopen === undefined) throw new Error('this store cannot be opened twice');
  return make.reopen({ clock, hook: () => {} });
}
