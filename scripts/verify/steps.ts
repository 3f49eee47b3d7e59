/** What `npm run verify` runs: npm scripts, so that each can be run alone in the same words. */
export interface Step {
  readonly name: string;
  /** Words after `npm run`. */
  readonly script: readonly string[];
  /** Steps that must have ended (either way) before this one starts. */
  readonly after: readonly string[];
}

function step(name: string, script: readonly string[], after: readonly string[] = []): Step {
  return { name, script, after };
}

/** vitest reports the CI tally and the requirements check read. */
const testReports = { fast: 'reports/fast.json', slow: 'reports/slow.json' } as const;

function tests(speed: keyof typeof testReports): readonly string[] {
  return [`test:${speed}`, '--', '--reporter=default', '--reporter=json', `--outputFile.json=${testReports[speed]}`];
}

/** Long ones first, so that the short ones fill the gaps. */
export const steps: readonly Step[] = [
  step('build', ['build']),
  step('test:fast', tests('fast'), ['build']),
  step('kill-loop', ['kill-loop', '--', '--kills', '200'], ['build']),
  step('test:slow', tests('slow'), ['build']),
  step('mutants', ['mutants']),
  step('histories', ['histories', '--', '--runs', '20000']),
  step('package', ['package:check'], ['build']),
  step('lint', ['lint']),
  step('types', ['types']),
  step('boundaries', ['boundaries']),
  step('deadcode', ['deadcode']),
  step('checks', ['checks']),
  step('generated', ['generate', '--', '--check']),
  step('docs', ['docs:check']),
  step('requirements', ['requirements']),
  step(
    'requirements:ran',
    ['requirements', '--', '--ran', testReports.fast, '--ran', testReports.slow],
    ['test:fast', 'test:slow'],
  ),
];
