import { describe, expect, test } from 'vitest';
import type { World } from '../../conformance/core/index.ts';
import {
  bringTo,
  cancelRun,
  createWorld,
  expireLease,
  failing,
  gateOf,
  grant,
  jobOf,
  leaseOf,
  planFor,
  say,
  sessionOf,
  succeed,
} from '../../conformance/core/index.ts';
import { gate, job } from '../plan/builder.ts';
import type { ReconcileIssueCode } from './rules.ts';
import { reconcileIssueCodes, reconcileRun } from './rules.ts';

interface Case {
  readonly code: ReconcileIssueCode;
  readonly what: string;
  readonly make: () => World;
  /** The run, job or gate states once nothing is left to repair. */
  readonly after: (world: World) => unknown;
  readonly expected: unknown;
}

const short = { queue: '1m', preparation: '5s', execution: '5s', upload: '5s' };
const stateOf = (node: string) => (world: World) => world.row(node).state;
const runState = (world: World) => world.state.run.state;

/** A run that says it is ending, although what waits was never told. */
function intendToCancel(world: World): World {
  const intent = { kind: 'Cancelled', requestedAt: world.now, supersededBy: null } as const;
  for (const told of [world.state, world.shadow]) told.putRun({ ...told.run, state: 'Cancelling', intent });
  return world;
}

/** Ends a job by hand, so that nothing that follows from it was done. */
function endSilently(world: World, node: string): void {
  const row = jobOf(world, node);
  const ended = { ...row, state: 'Cancelled', reason: { code: 'OperatorCancelled' }, finishedAt: world.now } as const;
  for (const told of [world.state, world.shadow]) told.putNode(ended);
}

const world = (...nodes: Parameters<typeof planFor>[0]) => createWorld(planFor(nodes));

function inPhase(phase: 'Preparing' | 'Running' | 'UploadingOutputs', waitMs: number): World {
  const made = world(job('a', { timeouts: short }));
  bringTo(made, 'a', phase);
  made.now += waitMs;
  return made;
}

const cases: readonly Case[] = [
  {
    code: 'VerdictDue',
    what: 'a follow-up that was lost left a job and a gate undecided',
    make() {
      const made = world(job('a'), job('b', { needs: ['a'] }), job('c', { needs: ['b'] }), gate('g', { needs: ['b'] }));
      failing(made, 'a');
      made.pending.splice(0);
      return made;
    },
    after: (made) => [runState(made), gateOf(made, 'g').state],
    expected: ['Failed', 'Cancelled'],
  },
  {
    code: 'GateNotNeeded',
    what: 'a gate waits for a person although nothing waits for it',
    make() {
      const made = world(job('a', { needs: ['g'] }), job('b'), gate('g'));
      endSilently(made, 'a');
      return made;
    },
    after: stateOf('g'),
    expected: 'Cancelled',
  },
  {
    code: 'RunNotSettled',
    what: 'all jobs have ended and the run does not know',
    make() {
      const made = world(job('a'));
      endSilently(made, 'a');
      return made;
    },
    after: runState,
    expected: 'Cancelled',
  },
  {
    code: 'RunNotDrained',
    what: 'the run is cancelling and nothing is held any more',
    make() {
      const made = intendToCancel(world(job('a')));
      endSilently(made, 'a');
      return made;
    },
    after: runState,
    expected: 'Cancelled',
  },
  {
    code: 'IntentNotApplied',
    what: 'a run has an intent that a waiting job, a held job and a gate were not told',
    make() {
      const made = world(job('a'), job('b'), gate('g'));
      bringTo(made, 'b', 'Running');
      return intendToCancel(made);
    },
    after: (made) => [jobOf(made, 'a').state, jobOf(made, 'b').intent?.reason, gateOf(made, 'g').state],
    expected: ['Cancelled', 'RunCancelled', 'Cancelled'],
  },
  {
    code: 'LostUnresolved',
    what: 'a job is lost and nobody decided whether it is retried',
    make() {
      const made = world(job('a'));
      bringTo(made, 'a', 'Running');
      made.now += 30_000;
      made.submit(expireLease(made, 'a'));
      return made;
    },
    after: stateOf('a'),
    expected: 'Eligible',
  },
  {
    code: 'RetryOverdue',
    what: 'a retry delay has elapsed and its timer never fired',
    make() {
      const made = world(job('a', { retry: { backoff: '5s' } }));
      failing(made, 'a', 'Infrastructure');
      made.now += 5_000;
      return made;
    },
    after: stateOf('a'),
    expected: 'Eligible',
  },
  {
    code: 'QueueTimeoutOverdue',
    what: 'a queue deadline has passed',
    make() {
      const made = world(job('a', { timeouts: short }));
      made.now += 60_000;
      return made;
    },
    after: stateOf('a'),
    expected: 'TimedOut',
  },
  ...(['Preparing', 'Running', 'UploadingOutputs'] as const).map(
    (phase): Case => ({
      code: 'PhaseTimeoutOverdue',
      what: `a deadline has passed in ${phase}`,
      make: () => inPhase(phase, 5_000),
      after: (made) => jobOf(made, 'a').intent?.kind,
      expected: 'TimedOut',
    }),
  ),
  {
    code: 'OfferOverdue',
    what: 'nobody took an offer',
    make() {
      const made = world(job('a'));
      grant(made, 'a');
      made.now += 10_000;
      return made;
    },
    after: stateOf('a'),
    expected: 'Eligible',
  },
  {
    code: 'LeaseOverdue',
    what: 'renewals stopped',
    make: () => inPhase('Preparing', 30_000),
    after: (made) => leaseOf(made, 'a').state,
    expected: 'Expired',
  },
  {
    code: 'LeaseOverdue',
    what: 'renewals stopped in a run that is cancelling',
    make() {
      const made = world(job('a'));
      bringTo(made, 'a', 'Running');
      made.submit(cancelRun);
      made.now += 30_000;
      return made;
    },
    after: runState,
    expected: 'Cancelled',
  },
  {
    code: 'OfferToInactiveSession',
    what: 'an offer stands on a session that drains',
    make() {
      const made = world(job('a'));
      grant(made, 'a', 'ada');
      made.inactive.add(sessionOf('ada'));
      return made;
    },
    after: (made) => [jobOf(made, 'a').state, jobOf(made, 'a').refusals],
    expected: ['Eligible', 0],
  },
  {
    code: 'RunDeadlineOverdue',
    what: 'the run deadline has passed',
    make() {
      const made = createWorld(planFor([job('a')], { deadline: '1h' }));
      made.now += 3_600_000;
      return made;
    },
    after: runState,
    expected: 'TimedOut',
  },
  {
    code: 'GateExpiryOverdue',
    what: 'a gate has expired',
    make() {
      const made = world(job('a', { needs: ['g'] }), gate('g', { expiry: '1m', onExpiry: 'satisfy' }));
      made.now += 60_000;
      return made;
    },
    after: stateOf('a'),
    expected: 'Eligible',
  },
];

const look = (made: World) =>
  reconcileRun(made.state, { now: made.now, isSessionActive: (session) => !made.inactive.has(session) });

/** Repairs until nothing is found; gives the number of passes that found something. */
function repair(made: World): number {
  for (let pass = 0; pass < 6; pass += 1) {
    const issues = look(made);
    if (issues.length === 0) return pass;
    for (const { repair: command } of issues) if (command !== null) made.submit(command, 'system:reconciler');
    made.pending.splice(0);
  }
  throw new Error('no fixed point');
}

describe('reconcile', () => {
  for (const { code, what, make, after, expected } of cases) {
    test(`003 §301.19, 003 §301.20: ${code}: ${what}: found, repaired once, and then nothing is left`, () => {
      const made = make();
      expect(look(made).map((issue) => issue.code)).toContain(code);
      expect(repair(made)).toBeGreaterThan(0);
      expect(after(made)).toEqual(expected);
      expect(look(made)).toEqual([]);
      const settled = made.state.run.sequence;
      repair(made);
      expect(made.state.run.sequence).toBe(settled);
    });
  }

  test('every issue is a case above, and contradictions are left to people', () => {
    const repaired = new Set(cases.map(({ code }) => code));
    const left = Object.keys(reconcileIssueCodes).filter((code) => !repaired.has(code as ReconcileIssueCode));
    expect(left).toEqual(['InvariantViolation']);
  });

  test('InvariantViolation: an attempt that ended while its job did not is shown, not repaired', () => {
    const made = inPhase('Running', 0);
    const attempt = [...made.state.attempts.values()][0];
    if (attempt === undefined) throw new Error('a running job has an attempt');
    made.state.putAttempt({ ...attempt, state: 'Succeeded' });
    const issues = look(made);
    expect(issues.map(({ code, severity, repair: command }) => [code, severity, command])).toEqual([
      ['InvariantViolation', 'Critical', null],
    ]);
    expect(issues[0]?.detail).toContain('attemptMatchesPhase');
  });

  test('nothing is found in a run where all goes well, a millisecond before each deadline', () => {
    const made = createWorld(planFor([job('a', { timeouts: short }), gate('g', { expiry: '5m' })], { deadline: '1h' }));
    const quiet = (waitMs: number) => {
      made.now += waitMs;
      expect(look(made)).toEqual([]);
    };
    quiet(59_999);
    grant(made, 'a');
    quiet(9_999);
    say(made, 'accept', 'a');
    quiet(4_999);
    say(made, 'start', 'a');
    quiet(4_999);
    say(made, 'finish', 'a');
    quiet(4_999);
    say(made, 'complete', 'a');
    quiet(60_000);
    made.now = 1_000_000 + 299_999;
    quiet(0);
    expect(runState(made)).toBe('Running');
  });

  test('an ended run is looked at for contradictions only', () => {
    const made = world(job('a'));
    succeed(made, 'a');
    expect(look(made)).toEqual([]);
    made.state.putNode({ ...jobOf(made, 'a'), executionSource: null });
    expect(look(made).map(({ code }) => code)).toEqual(['InvariantViolation']);
  });
});
