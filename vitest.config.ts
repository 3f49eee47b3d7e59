import { defineConfig } from 'vitest/config';

/** Tests that start processes, loop for seconds or build big graphs; they run in `verify`, not in `test:fast`. */
const slowTests = '**/*.slow.test.ts';
/** Decisions: these run in a world without clock, chance, timers and environment. */
const pureTests = ['machines/**/*.test.ts', 'scripts/vitest/pure-context.test.ts'];
const outside = ['**/node_modules/**', '**/dist/**', '**/.forgeyard/**'];

// Timeouts only end what hangs: far above what a test takes on a busy machine, so that a slow one never fails.
export default defineConfig({
  test: {
    environment: 'node',
    // Processes, not threads: a test may change its directory or its environment, and node:sqlite handles die with it.
    pool: 'forks',
    maxWorkers: 2,
    // A leaked handle or an unhandled rejection is a failure of the test that caused it.
    dangerouslyIgnoreUnhandledErrors: false,
    allowOnly: false,
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['**/*.test.ts'],
          exclude: [...outside, slowTests, ...pureTests],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'pure',
          include: pureTests,
          exclude: [...outside, slowTests],
          setupFiles: ['./scripts/vitest/pure-context.ts'],
          testTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: { name: 'slow', include: [slowTests], exclude: outside, testTimeout: 240_000, hookTimeout: 120_000 },
      },
    ],
  },
});
