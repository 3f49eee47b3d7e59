import { describe, expect, test } from 'vitest';
import {
  attemptStates,
  gateStates,
  isAttemptTerminal,
  isGateEnded,
  isJobActive,
  isJobEnded,
  isLeaseLive,
  isRunTerminal,
  jobStates,
  leaseStates,
  runStates,
  sessionStates,
} from '../model/states.ts';
import type { Candidate, Table } from './chart.ts';
import { step } from './chart.ts';
import { allCharts, chartNames } from './charts.ts';
import { quietJobInput } from './job.ts';

interface Listed extends Candidate {
  readonly from: string;
  readonly event: string;
}

const candidatesOf = (table: Table): readonly Listed[] =>
  Object.entries(table.rows).flatMap(([from, row]) =>
    Object.entries(row).flatMap(([event, candidates]) =>
      candidates.map((candidate) => ({ ...candidate, from, event })),
    ),
  );

/** The moves of a table as "from -> to", each once. */
const movesOf = (table: Table): readonly string[] => [
  ...new Set(
    candidatesOf(table).flatMap(({ from, target }) =>
      target === null || target === from ? [] : `${from} -> ${target}`,
    ),
  ),
];

const job = allCharts.job.table;

describe('job: the logical transitions', () => {
  /** 000 §51, line by line; TimedOut "via new attempt path" is RetryWaiting or Eligible. */
  const required = [
    'Pending -> Eligible Skipped Cancelled',
    'Eligible -> Leased Skipped Cancelled',
    'Leased -> Preparing Eligible Cancelled',
    'Preparing -> Running Failed TimedOut Cancelled Lost',
    'Running -> UploadingOutputs Failed TimedOut Cancelled Lost',
    'UploadingOutputs -> Succeeded Failed TimedOut Cancelled Lost',
    'Lost -> Eligible Failed',
  ];
  /** What the other sections need and §51 leaves out. */
  const added = [
    'Eligible -> Succeeded TimedOut', // cache hit (§207), queue timeout (§69)
    'Leased -> RetryWaiting Failed', // one refusal too many
    'Preparing -> RetryWaiting Eligible', // a retry waits in a state of its own (§52, §57)
    'Running -> RetryWaiting Eligible',
    'UploadingOutputs -> RetryWaiting Eligible',
    'Lost -> RetryWaiting Cancelled',
    'RetryWaiting -> Eligible Cancelled',
  ];
  const pairs = (lines: readonly string[]): readonly string[] =>
    lines.flatMap((line) => {
      const [from = '', targets = ''] = line.split(' -> ');
      return targets.split(' ').map((to) => `${from} -> ${to}`);
    });

  test('000 §51: all the required ones exist, and only the listed ones besides', () => {
    expect([...movesOf(job)].sort()).toEqual([...pairs(required), ...pairs(added)].sort());
  });

  test('000 §51: Leased -> Lost does not exist: an offer nobody took is no lost execution', () => {
    expect(movesOf(job)).not.toContain('Leased -> Lost');
    expect(step(allCharts.job, 'Leased', 'OfferExpired', quietJobInput)).toEqual({
      kind: 'move',
      target: 'Eligible',
      effects: ['closeAttempt', 'countRefusal'],
    });
  });

  test('000 §52: a failed job never runs again; a retry is another attempt of a job that has not ended', () => {
    expect(movesOf(job).filter((move) => /^(Failed|TimedOut|Succeeded|Cancelled|Skipped) /.test(move))).toEqual([]);
  });
});

describe('job: what the chart alone guarantees', () => {
  const candidates = candidatesOf(job);

  test('000 §375.3: only an Eligible job can be leased, and nothing else opens an attempt', () => {
    const leases = candidates.filter(({ target, effects }) => target === 'Leased' || effects.includes('openAttempt'));
    expect(leases.map(({ from, event }) => `${from} ${event}`)).toEqual(['Eligible LeaseGranted']);
  });

  test('000 §375.7: Running is entered only from Preparing by WorkStarted', () => {
    const entries = candidates.filter(({ target }) => target === 'Running');
    expect(entries.map(({ from, event }) => `${from} ${event}`)).toEqual(['Preparing WorkStarted']);
  });

  test('000 §375.8: UploadingOutputs is entered only from Running by WorkFinished', () => {
    const entries = candidates.filter(({ target }) => target === 'UploadingOutputs');
    expect(entries.map(({ from, event }) => `${from} ${event}`)).toEqual(['Running WorkFinished']);
  });

  test('000 §375.9: success is entered only by a result or a cache hit, and never with unverified outputs', () => {
    const entries = candidates.filter(({ target }) => target === 'Succeeded');
    const ways = entries.map(({ from, event }) => ({ from, event }));
    expect(ways.map(({ from, event }) => `${from} ${event}`)).toEqual([
      'Eligible CacheHit',
      'UploadingOutputs AttemptSucceeded',
    ]);
    for (const { from, event } of ways) {
      const unverified = { ...quietJobInput, outputsVerified: false };
      expect(step(allCharts.job, from, event, unverified)).toEqual({ kind: 'refuse', code: 'OutputsUnverified' });
    }
  });

  test('every end of an active job closes its attempt, and no other move does', () => {
    const active = new Set<string>(jobStates.filter(isJobActive));
    const wrong = candidates.filter(({ from, target, effects }) => {
      const ends = active.has(from) && target !== null && !active.has(target);
      return ends !== effects.includes('closeAttempt');
    });
    expect(wrong).toEqual([]);
  });

  test('every way into Eligible sets the queue deadline, except the return from Leased, which keeps it', () => {
    const entries = candidates.filter(({ target }) => target === 'Eligible');
    expect(entries.filter(({ from, effects }) => (from === 'Leased') === effects.includes('enterQueue'))).toEqual([]);
  });

  test('every way into RetryWaiting schedules the retry, and a retry clears the intent with its attempt', () => {
    const entries = candidates.filter(({ target }) => target === 'RetryWaiting');
    expect(entries.filter(({ effects }) => !effects.includes('scheduleRetry'))).toEqual([]);
    const retries = candidates.filter(
      ({ from, target }) =>
        ['Preparing', 'Running', 'UploadingOutputs'].includes(from) &&
        (target === 'RetryWaiting' || target === 'Eligible'),
    );
    expect(retries.filter(({ effects }) => !effects.includes('clearIntent'))).toEqual([]);
  });
});

describe('states: charts and model name the same', () => {
  const modelled: readonly (readonly [string, Table, readonly string[]])[] = [
    ['run', allCharts.run.table, runStates],
    ['job', job, jobStates],
    ['attempt', allCharts.attempt.table, attemptStates],
    ['lease', allCharts.lease.table, leaseStates],
    ['gate', allCharts.gate.table, gateStates],
    ['session', allCharts.session.table, sessionStates],
  ];
  test.each(modelled)('%s: all of them', (_, table, states) => {
    expect([...table.states].sort()).toEqual([...states].sort());
  });

  test('terminal in the chart is ended in the model', () => {
    const sorted = (states: readonly string[]): readonly string[] => [...states].sort();
    expect(sorted(runStates.filter(isRunTerminal))).toEqual(sorted(allCharts.run.table.terminal));
    expect(sorted(jobStates.filter(isJobEnded))).toEqual(sorted(job.terminal));
    expect(sorted(attemptStates.filter(isAttemptTerminal))).toEqual(sorted(allCharts.attempt.table.terminal));
    expect(sorted(leaseStates.filter((state) => !isLeaseLive(state)))).toEqual(sorted(allCharts.lease.table.terminal));
    expect(sorted(gateStates.filter(isGateEnded))).toEqual(sorted(allCharts.gate.table.terminal));
  });

  test('000 §375.29: a run that has ended never reopens', () => {
    expect(
      movesOf(allCharts.run.table).filter((move) => allCharts.run.table.terminal.includes(move.split(' ')[0] ?? '')),
    ).toEqual([]);
  });

  test('000 §375.30: an attempt that has ended keeps its outcome; a late result is only put on record', () => {
    const { terminal } = allCharts.attempt.table;
    const changes = candidatesOf(allCharts.attempt.table).filter(({ from }) => terminal.includes(from));
    expect(changes.filter(({ target }) => target !== null)).toEqual([]);
    expect(new Set(changes.flatMap(({ effects }) => effects))).toEqual(new Set(['recordLateResult']));
  });
});

test.each(chartNames)('%s: every guard and every effect of the chart is used by its table', (name) => {
  const { guards, table, machine } = allCharts[name];
  const candidates = candidatesOf(table);
  const used = new Set(candidates.flatMap(({ guard }) => guard ?? []));
  // The small machines share one set of guards.
  const shared = ['session', 'outbox', 'timer', 'effect'].includes(name);
  expect(shared ? [] : Object.keys(guards).filter((guard) => !used.has(guard))).toEqual([]);
  const effects = new Set(candidates.flatMap((candidate) => candidate.effects));
  const answering = ['answer', 'refuse', 'decideAs'];
  const declared = Object.keys(machine.implementations.actions).filter((action) => !answering.includes(action));
  expect(declared.filter((action) => !effects.has(action))).toEqual([]);
  expect([...effects].filter((effect) => !declared.includes(effect))).toEqual([]);
});
