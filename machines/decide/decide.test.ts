import { describe, expect, test } from 'vitest';
import type { World } from '../../conformance/core/index.ts';
import {
  bringTo,
  cancelJob,
  cancelRun,
  createWorld,
  decideGate,
  expireLease,
  failing,
  gateOf,
  grantCommand,
  idOf,
  jobOf,
  leaseOf,
  oneOutput,
  planFor,
  runnerMessage,
  skipJob,
  succeed,
} from '../../conformance/core/index.ts';
import type { Table } from '../charts/chart.ts';
import { allCharts } from '../charts/charts.ts';
import type { Command, CommandType } from '../model/commands.ts';
import type { Fact } from '../model/facts.ts';
import { gate, job } from '../plan/builder.ts';

const words = ['accept', 'decline', 'start', 'finish', 'complete', 'fail', 'stopped'] as const;

/** Every kind of command there is, as the world stands. */
function everyCommand(world: World): readonly Command[] {
  const { id } = jobOf(world, 'a');
  const hasAttempt = jobOf(world, 'a').attemptCount > 0;
  const ofAttempt: readonly Command[] = hasAttempt
    ? [
        ...words.map((word) => runnerMessage(world, word, 'a')),
        { ...expireLease(world, 'a'), type: 'ExpireOffer', job: id, lease: leaseOf(world, 'a').id },
        { type: 'ExpireLease', job: id, lease: leaseOf(world, 'a').id },
        { type: 'RevokeLease', job: id, lease: leaseOf(world, 'a').id },
        ...(['preparation', 'execution', 'upload'] as const).map(
          (phase): Command => ({ type: 'ReachPhaseTimeout', job: id, attempt: leaseOf(world, 'a').attemptId, phase }),
        ),
      ]
    : [];
  return [
    ...ofAttempt,
    { type: 'ReachRunDeadline' },
    { type: 'ReachQueueTimeout', job: id },
    { type: 'ReachRetryTime', job: id },
    { type: 'ExpireGate', gate: gateOf(world, 'g').id },
    grantCommand(world, 'a'),
    { type: 'ResolveCacheHit', job: id, outputs: [oneOutput] },
    cancelRun,
    { type: 'SupersedeRun', by: idOf('00000000-0000-7000-8000-00000000aaaa') },
    cancelJob(world, 'a'),
    skipJob(world, 'a'),
    { type: 'ChangePriority', priority: 4 },
    decideGate(world, 'g', 'approve'),
    decideGate(world, 'g', 'reject'),
    { type: 'JudgeNodes', nodes: [0, 1, 2, 3] },
    { type: 'ResolveLost', job: id },
    { type: 'CreditOutage', credit: 1, gapStart: world.now - 1, gapMs: 5 },
  ];
}

function fresh(): World {
  const timeouts = { queue: '1m', preparation: '1m', execution: '1m', upload: '1m' };
  return createWorld(
    planFor(
      [
        job('a', { timeouts, retry: { attempts: 2, on: ['UserCommand'], backoff: { base: '1s' } } }),
        job('b', { needs: ['a'] }),
        job('c'),
        gate('g', { expiry: '1m' }),
      ],
      { deadline: '1h' },
    ),
    { frozen: true },
  );
}

/** The job in every state it can be in, with a run in several of its own. */
const stands: readonly (readonly [string, (world: World) => void])[] = [
  ['Eligible', () => {}],
  ['Leased', (world) => bringTo(world, 'a', 'Leased')],
  ['Preparing', (world) => bringTo(world, 'a', 'Preparing')],
  ['Running', (world) => bringTo(world, 'a', 'Running')],
  ['UploadingOutputs', (world) => bringTo(world, 'a', 'UploadingOutputs')],
  ['RetryWaiting', (world) => void failing(world, 'a')],
  ['Succeeded', (world) => void succeed(world, 'a')],
  ['Cancelled', (world) => void world.submit(cancelJob(world, 'a'))],
  ['Skipped', (world) => void world.submit(skipJob(world, 'a'))],
  [
    'Lost',
    (world) => {
      bringTo(world, 'a', 'Running');
      world.now += 30_000;
      world.submit(expireLease(world, 'a'));
    },
  ],
  [
    'Running',
    (world) => {
      bringTo(world, 'a', 'Running');
      world.submit(cancelRun);
    },
  ],
];

/** State changes that a table has, whatever the guards. */
function moves(table: Table): ReadonlySet<string> {
  return new Set(
    Object.entries(table.rows).flatMap(([from, row]) =>
      Object.values(row).flatMap((candidates) =>
        candidates
          .filter(({ answer, refuse, decideAs }) => answer === null && refuse === null && decideAs === null)
          .map(({ target }) => `${from} -> ${target ?? from}`),
      ),
    ),
  );
}
const legal = {
  run: moves(allCharts.run.table),
  job: moves(allCharts.job.table),
  attempt: moves(allCharts.attempt.table),
  lease: moves(allCharts.lease.table),
  gate: moves(allCharts.gate.table),
};
const isLegal = (fact: Fact): boolean => fact.from === null || legal[fact.entity].has(`${fact.from} -> ${fact.to}`);

describe('decide', () => {
  for (const [state, stand] of stands) {
    test(`003 §303.3: D1, D2: in ${state}: every command has an answer, twice the same, and nothing is written to`, () => {
      const world = fresh();
      stand(world);
      expect(jobOf(world, 'a').state).toBe(state);
      const { sequence } = world.state;
      for (const command of everyCommand(world)) {
        const [once, again] = [world.peek(command), world.peek(command)];
        expect(again).toEqual(once);
        expect(['accepted', 'no-op', 'rejected']).toContain(once.outcome);
      }
      expect(world.state.sequence).toBe(sequence);
      expect(world.problems()).toEqual([]);
    });

    test(`000 §376.10: in ${state}: a command moves rows along the tables or not at all`, () => {
      for (const command of everyCommand(fresh()).map((_, at) => at)) {
        const world = fresh();
        stand(world);
        const chosen = everyCommand(world)[command];
        if (chosen === undefined) continue;
        world.submit(chosen);
        world.followUp();
        expect(world.facts.filter((fact) => !isLegal(fact))).toEqual([]);
        expect(world.problems()).toEqual([]);
      }
    });
  }

  test('the list above holds every command there is', () => {
    const world = fresh();
    bringTo(world, 'a', 'Leased');
    const all: { readonly [K in CommandType]: true } = {
      AcceptLease: true,
      RejectLease: true,
      StartWork: true,
      FinishWork: true,
      CompleteAttempt: true,
      FailAttempt: true,
      ConfirmTermination: true,
      ReachRunDeadline: true,
      ReachQueueTimeout: true,
      ReachPhaseTimeout: true,
      ReachRetryTime: true,
      ExpireOffer: true,
      ExpireLease: true,
      ExpireGate: true,
      GrantLease: true,
      ResolveCacheHit: true,
      RevokeLease: true,
      CancelRun: true,
      SupersedeRun: true,
      CancelJob: true,
      SkipJob: true,
      ChangePriority: true,
      DecideGate: true,
      JudgeNodes: true,
      ResolveLost: true,
      CreditOutage: true,
    };
    expect([...new Set(everyCommand(world).map(({ type }) => type))].sort()).toEqual(Object.keys(all).sort());
  });

  test('a large fan-out and fan-in is propagated in commits of bounded size', () => {
    const wide = Array.from({ length: 2_500 }, (_, at) => `w${at}`);
    const plan = planFor([
      job('a'),
      ...wide.map((name) => job(name, { needs: ['a'], required: false })),
      job('z', { needs: wide.slice(0, 1_000).map((name) => ({ job: name, condition: 'always' as const })) }),
    ]);
    const world = createWorld(plan);
    const decision = failing(world, 'a');
    expect(decision.outcome === 'accepted' && decision.changes.jobs.length).toBeLessThan(1_010);
    for (const later of world.followUp()) {
      if (later.outcome === 'accepted') expect(later.changes.jobs.length).toBeLessThan(3_000);
    }
    expect(jobOf(world, 'z').state).toBe('Eligible');
  });
});
