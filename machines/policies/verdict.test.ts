import { describe, expect, test } from 'vitest';
import { createWorld, planFor } from '../../conformance/core/index.ts';
import type { ReasonCode } from '../model/codes.ts';
import type { GateRow, JobRow, NodeRow } from '../model/rows.ts';
import type { BuiltNode } from '../plan/builder.ts';
import { gate, job } from '../plan/builder.ts';
import { runVerdict } from './verdict.ts';

type End = Partial<Pick<JobRow, 'satisfies'>> & {
  readonly state: string;
  readonly code: ReasonCode;
  readonly root?: string;
};

/** The verdict when the nodes of the plan have these ends. */
function verdictOf(nodes: readonly BuiltNode[], ends: Readonly<Record<string, End>>): string {
  const { state } = createWorld(planFor(nodes));
  for (const row of [...state.nodes]) {
    const end = ends[row.node];
    if (end !== undefined) state.putNode(endedRow(row, end));
  }
  return runVerdict(state);
}

function endedRow(row: NodeRow, { state, code, root, satisfies }: End): NodeRow {
  const reason = { code, ...(root === undefined ? {} : { root: root as NodeRow['node'] }) };
  return row.kind === 'job'
    ? { ...row, state: state as JobRow['state'], reason, satisfies: satisfies ?? null }
    : { ...row, state: state as GateRow['state'], reason };
}

const ok: End = { state: 'Succeeded', code: 'OutputsVerified' };
const failed: End = { state: 'Failed', code: 'UserCommand' };
const timedOut: End = { state: 'TimedOut', code: 'ExecutionTimeout' };
const cancelled: End = { state: 'Cancelled', code: 'OperatorCancelled' };
const failFast: End = { state: 'Cancelled', code: 'FailFast' };
const below = (code: ReasonCode, root: string): End => ({ state: 'Skipped', code, root, satisfies: false });
const fine: End = { state: 'Skipped', code: 'Manual', satisfies: true };

describe('verdict', () => {
  test('000 §376.18: one required job: every end and what it makes of the run', () => {
    const single: readonly (readonly [End, string, string])[] = [
      [ok, 'success', 'success'],
      [failed, 'failure', 'success'],
      [timedOut, 'failure', 'success'],
      [cancelled, 'cancelled', 'success'],
      [failFast, 'failure', 'failure'],
      [fine, 'success', 'success'],
      [{ state: 'Skipped', code: 'Policy', satisfies: false }, 'failure', 'failure'],
    ];
    for (const [end, blocking, allowed] of single) {
      expect(verdictOf([job('a')], { a: end })).toBe(blocking);
      expect(verdictOf([job('a', { failureImpact: 'allowed' })], { a: end })).toBe(allowed);
      expect(verdictOf([job('a', { required: false })], { a: end })).toBe('success');
    }
  });

  test('a failure outweighs a cancel, in any order of the plan', () => {
    const nodes = [job('a'), job('b'), job('c')];
    expect(verdictOf(nodes, { a: cancelled, b: failed, c: ok })).toBe('failure');
    expect(verdictOf(nodes, { a: failed, b: cancelled, c: ok })).toBe('failure');
    expect(verdictOf(nodes, { a: cancelled, b: ok, c: fine })).toBe('cancelled');
  });

  test('a skip below both a failure and a cancel is a failure, whichever root it names', () => {
    const nodes = [job('a', { required: false }), job('b', { required: false }), job('x', { needs: ['a', 'b'] })];
    for (const root of ['a', 'b'] as const) {
      const code = root === 'a' ? 'UpstreamFailed' : 'UpstreamCancelled';
      expect(verdictOf(nodes, { a: failed, b: cancelled, x: below(code, root) })).toBe('failure');
    }
    expect(verdictOf(nodes, { a: cancelled, b: cancelled, x: below('UpstreamCancelled', 'b') })).toBe('cancelled');
  });

  test('"below" is by any path of the plan, also through nodes that did not block', () => {
    const nodes = [
      job('a', { required: false }),
      job('m', { needs: [{ job: 'a', condition: 'always' }], required: false }),
      job('x', { needs: ['m'] }),
    ];
    expect(verdictOf(nodes, { a: failed, m: cancelled, x: below('UpstreamCancelled', 'm') })).toBe('failure');
    expect(verdictOf(nodes, { a: ok, m: cancelled, x: below('UpstreamCancelled', 'm') })).toBe('cancelled');
  });

  test('a failure that is allowed makes nothing below it a failure', () => {
    const nodes = [
      job('a', { failureImpact: 'allowed' }),
      job('b', { required: false, needs: ['a'] }),
      job('x', { needs: ['b'] }),
    ];
    expect(verdictOf(nodes, { a: failed, b: cancelled, x: below('UpstreamCancelled', 'b') })).toBe('cancelled');
  });

  test('gates count only where nothing depends on them', () => {
    const rejected: End = { state: 'Rejected', code: 'RejectedByActor' };
    const dropped = (code: ReasonCode): End => ({ state: 'Cancelled', code });
    const alone = [job('a'), gate('g')];
    expect(verdictOf(alone, { a: ok, g: rejected })).toBe('failure');
    expect(verdictOf(alone, { a: ok, g: { state: 'Satisfied', code: 'Approved' } })).toBe('success');
    expect(verdictOf(alone, { a: ok, g: dropped('UpstreamCancelled') })).toBe('cancelled');
    expect(verdictOf(alone, { a: ok, g: dropped('Policy') })).toBe('failure');
    for (const code of ['ConditionNotMet', 'NotNeeded', 'FailFast'] as const) {
      expect(verdictOf(alone, { a: ok, g: dropped(code) })).toBe('success');
    }
    const needed = [job('a', { needs: ['g'], required: false }), gate('g')];
    expect(verdictOf(needed, { a: below('UpstreamFailed', 'g'), g: rejected })).toBe('success');
    const required = [job('a', { needs: ['g'] }), gate('g')];
    expect(verdictOf(required, { a: below('UpstreamFailed', 'g'), g: rejected })).toBe('failure');
    const gated = [job('a', { required: false }), gate('g', { needs: ['a'] })];
    expect(verdictOf(gated, { a: failed, g: { ...dropped('UpstreamFailed'), root: 'a' } })).toBe('failure');
  });
});
