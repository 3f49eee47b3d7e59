import { describe, expect, test } from 'vitest';
import { createWorld, planFor } from '../../conformance/core/index.ts';
import type { ReasonCode } from '../model/codes.ts';
import type { GateRow, JobRow, NodeRow } from '../model/rows.ts';
import type { GateState, JobState } from '../model/states.ts';
import { gate, job } from '../plan/builder.ts';
import type { EdgeCondition, PlannedEdge } from '../plan/plan.ts';
import { judgeEdge, judgeNode, skipSatisfies } from './dependencies.ts';

const seed = createWorld(planFor([job('up'), gate('gate')])).state;
const jobRow = (state: JobState, code: ReasonCode | null, given: Partial<JobRow> = {}): JobRow => ({
  ...seed.job(0),
  state,
  reason: code === null ? null : { code },
  ...given,
});
const gateRow = (state: GateState, code: ReasonCode | null, given: Partial<GateRow> = {}): GateRow => ({
  ...seed.gate(1),
  state,
  reason: code === null ? null : { code },
  ...given,
});
const edge = (condition: EdgeCondition, required = true): PlannedEdge => ({ upstream: 0, condition, required });

const passed = (code: ReasonCode) => ({ reason: { code, root: 'r' as NodeRow['node'] } });

/** yes = satisfied, not = condition not met; otherwise unmet with this reason and root. */
const table: readonly (readonly [what: string, row: NodeRow, success: string, completed: string, failure: string])[] = [
  ['Succeeded', jobRow('Succeeded', 'OutputsVerified'), 'yes', 'yes', 'not'],
  ['Failed', jobRow('Failed', 'UserCommand'), 'UpstreamFailed up', 'yes', 'yes'],
  ['Failed, allowed', jobRow('Failed', 'UserCommand', { failureImpact: 'allowed' }), 'yes', 'yes', 'yes'],
  ['TimedOut', jobRow('TimedOut', 'ExecutionTimeout'), 'UpstreamFailed up', 'yes', 'yes'],
  ['TimedOut, allowed', jobRow('TimedOut', 'QueueTimeout', { failureImpact: 'allowed' }), 'yes', 'yes', 'yes'],
  ['Cancelled', jobRow('Cancelled', 'OperatorCancelled'), 'UpstreamCancelled up', 'UpstreamCancelled up', 'not'],
  [
    'Cancelled, allowed',
    jobRow('Cancelled', 'OperatorCancelled', { failureImpact: 'allowed' }),
    'UpstreamCancelled up',
    'UpstreamCancelled up',
    'not',
  ],
  ['Cancelled by fail-fast', jobRow('Cancelled', 'FailFast'), 'UpstreamFailed up', 'UpstreamFailed up', 'not'],
  ['Skipped, satisfying', jobRow('Skipped', 'Manual', { satisfies: true }), 'yes', 'not', 'not'],
  [
    'Skipped below a failure',
    jobRow('Skipped', null, { satisfies: false, ...passed('UpstreamFailed') }),
    'UpstreamFailed r',
    'UpstreamFailed r',
    'not',
  ],
  [
    'Skipped below a cancel',
    jobRow('Skipped', null, { satisfies: false, ...passed('UpstreamCancelled') }),
    'UpstreamCancelled r',
    'UpstreamCancelled r',
    'not',
  ],
  ['Skipped by policy', jobRow('Skipped', 'Policy', { satisfies: false }), 'Policy up', 'Policy up', 'not'],
  [
    'Skipped below a policy',
    jobRow('Skipped', null, { satisfies: false, ...passed('Policy') }),
    'Policy r',
    'Policy r',
    'not',
  ],
  ['gate Satisfied', gateRow('Satisfied', 'Approved'), 'yes', 'yes', 'not'],
  ['gate Rejected', gateRow('Rejected', 'RejectedByActor'), 'UpstreamFailed gate', 'yes', 'yes'],
  ['gate without its condition', gateRow('Cancelled', 'ConditionNotMet'), 'not', 'not', 'not'],
  [
    'gate below a failure',
    gateRow('Cancelled', null, passed('UpstreamFailed')),
    'UpstreamFailed r',
    'UpstreamFailed r',
    'not',
  ],
  [
    'gate below a cancel',
    gateRow('Cancelled', null, passed('UpstreamCancelled')),
    'UpstreamCancelled r',
    'UpstreamCancelled r',
    'not',
  ],
];

function said(condition: EdgeCondition, row: NodeRow, required = true): string {
  const judgement = judgeEdge(edge(condition, required), row);
  switch (judgement.kind) {
    case 'satisfied':
      return 'yes';
    case 'condition-not-met':
      return 'not';
    case 'undecided':
      return 'open';
    case 'unmet':
      return `${judgement.reason.code} ${judgement.reason.root}`;
  }
}

describe('dependencies', () => {
  for (const [what, row, success, completed, failure] of table) {
    test(`one edge: ${what}: success ${success}, completed ${completed}, failure ${failure}`, () => {
      expect(said('success', row)).toBe(success);
      expect(said('completed', row)).toBe(completed);
      expect(said('failure', row)).toBe(failure);
      expect(said('always', row)).toBe('yes');
      for (const condition of ['success', 'completed', 'failure', 'always'] as const) {
        expect(said(condition, row, false)).toBe('yes');
      }
    });
  }

  test('one edge: nothing is satisfied by a node that has not ended, whatever the condition', () => {
    const open: readonly NodeRow[] = [
      ...(
        ['Pending', 'RetryWaiting', 'Eligible', 'Leased', 'Preparing', 'Running', 'UploadingOutputs', 'Lost'] as const
      ).map((state) => jobRow(state, null)),
      gateRow('Pending', null),
    ];
    for (const row of open) {
      for (const condition of ['success', 'completed', 'failure', 'always'] as const) {
        expect(said(condition, row)).toBe('open');
        expect(said(condition, row, false)).toBe('open');
      }
    }
  });

  test('which skips satisfy', () => {
    const satisfying: readonly ReasonCode[] = ['ConditionFalse', 'ConditionNotMet', 'PlanPruned', 'Manual'];
    const others: readonly ReasonCode[] = ['UpstreamFailed', 'UpstreamCancelled', 'Policy'];
    expect(satisfying.map(skipSatisfies)).toEqual([true, true, true, true]);
    expect(others.map(skipSatisfies)).toEqual([false, false, false]);
  });
});

describe('dependencies: a node', () => {
  /** The verdict on `x` when its upstreams stand as given. */
  function verdict(
    edges: readonly { readonly job: string; readonly condition: EdgeCondition }[],
    states: Readonly<Record<string, JobRow>>,
  ) {
    const { state } = createWorld(
      planFor([job('a'), job('b'), job('c'), job('x', { needs: edges.map((each) => ({ ...each })) })]),
    );
    for (const [at, name] of ['a', 'b', 'c'].entries()) {
      const row = states[name];
      if (row !== undefined) state.putNode({ ...row, id: state.job(at).id, index: at, node: state.job(at).node });
    }
    const found = judgeNode(state, 3);
    return found.kind === 'skip' ? `${found.reason.code} ${found.satisfies}` : found.kind;
  }
  const ok = jobRow('Succeeded', 'OutputsVerified');
  const bad = jobRow('Failed', 'UserCommand');
  const skipped = jobRow('Skipped', 'Manual', { satisfies: true });

  test('the first unmet edge decides at once; a condition not met only when all have ended', () => {
    const needs = [
      { job: 'a', condition: 'success' },
      { job: 'b', condition: 'completed' },
    ] as const;
    expect(verdict(needs, {})).toBe('undecided');
    expect(verdict(needs, { a: bad })).toBe('UpstreamFailed false');
    expect(verdict(needs, { b: skipped })).toBe('undecided');
    expect(verdict(needs, { a: ok, b: skipped })).toBe('ConditionNotMet true');
    expect(verdict(needs, { a: bad, b: skipped })).toBe('UpstreamFailed false');
    expect(verdict(needs, { a: ok, b: bad })).toBe('satisfied');
  });

  test('failure edges are one group: one that qualifies is enough, and all must have ended', () => {
    const needs = [
      { job: 'a', condition: 'failure' },
      { job: 'b', condition: 'failure' },
      { job: 'c', condition: 'success' },
    ] as const;
    expect(verdict(needs, { a: bad, c: ok })).toBe('undecided');
    expect(verdict(needs, { a: bad, b: ok, c: ok })).toBe('satisfied');
    expect(verdict(needs, { a: ok, b: ok, c: ok })).toBe('ConditionNotMet true');
    expect(verdict(needs, { a: bad, b: ok })).toBe('undecided');
    expect(verdict(needs, { a: bad, b: ok, c: bad })).toBe('UpstreamFailed false');
  });

  test('the root of several unmet edges is the first in plan order', () => {
    const needs = [
      { job: 'b', condition: 'success' },
      { job: 'a', condition: 'success' },
    ] as const;
    const { state } = createWorld(
      planFor([job('a'), job('b'), job('x', { needs: needs.map((each) => ({ ...each })) })]),
    );
    for (const at of [0, 1]) state.putNode({ ...state.job(at), state: 'Failed', reason: { code: 'UserCommand' } });
    const found = judgeNode(state, 2);
    expect(found.kind === 'skip' && found.reason.root).toBe('a');
  });
});
