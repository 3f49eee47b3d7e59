import { describe, expect, test } from 'vitest';
import type { Trial } from '../test-support/chart-graph.ts';
import { edgesOf, shortestPaths } from '../test-support/chart-graph.ts';
import { describeMove } from '../test-support/describe-step.ts';
import { mocked } from '../test-support/guard-classes.ts';
import { checkedInTable, tableText } from '../test-support/read-tables.ts';
import { describeTransition, snapshotOf } from '../test-support/xstate-step.ts';
import { allCharts, chartEvents, chartNames } from './charts.ts';
import type { ReleasedDecision } from './released-table.ts';
import { decideByTable, formatReleasedTable, releasedTable, unlistedCode } from './released-table.ts';

const described = (decision: ReleasedDecision): string => {
  if ('answer' in decision) return `answer ${decision.answer}`;
  if ('refuse' in decision) return `refuse ${decision.refuse}`;
  if ('decideAs' in decision) return `as ${decision.decideAs}`;
  return describeMove(decision.to, decision.effects ?? []);
};

describe.each(chartNames)('%s: every state x every event', (name) => {
  const chart = allCharts[name];
  const { table } = chart;
  const events = chartEvents[name];
  const checkedIn = checkedInTable(name);
  // Drawn here and not in the tests: the walker of @xstate/graph names its actors by chance.
  const edges = edgesOf(chart, events);
  const paths = shortestPaths(chart, events);
  const decisionFor = (state: string, trial: Trial): ReleasedDecision =>
    decideByTable(checkedIn, state, trial.type, (guard) => trial.holds.includes(guard));

  test('the checked-in table is the one the chart gives', () => {
    expect(tableText(name)).toBe(formatReleasedTable(releasedTable(table, events)));
  });

  test('every declared event is listed in some state, and no other', () => {
    expect([...events].sort()).toEqual(table.events);
  });

  test('000 §345: each pair, legal or not, is tried in each guard class and ends as the table expects', () => {
    const wrong = edges.filter(({ from, trial, to }) => {
      const decision = decisionFor(from, trial);
      return to !== ('to' in decision ? decision.to : from);
    });
    expect(wrong).toEqual([]);
    const tried = new Set(edges.map(({ from, trial }) => `${from} x ${trial.type}`));
    expect(tried.size).toBe(table.states.length * events.length);
  });

  test('000 §364.2: every legal transition of the table is taken by the statechart, with its effects', () => {
    const { machine, assume } = mocked(chart);
    const taken = new Set<ReleasedDecision>();
    for (const { from, trial } of edges) {
      const decision = decisionFor(from, trial);
      assume(new Map(trial.holds.map((guard) => [guard, true])));
      expect(`${from} x ${trial.type}: ${describeTransition(machine, snapshotOf(machine, from, {}), trial.type)}`).toBe(
        `${from} x ${trial.type}: ${described(decision)}`,
      );
      taken.add(decision);
    }
    const all = Object.values(checkedIn.decisions).flatMap((row) => Object.values(row).flat());
    expect(all.filter((decision) => !taken.has(decision))).toEqual([]);
  });

  test('000 §364.3: every illegal transition is refused with a code and leaves the state', () => {
    const refused = edges.filter(({ from, trial }) => 'refuse' in decisionFor(from, trial));
    expect(refused.filter(({ from, to }) => from !== to)).toEqual([]);
    const unlisted = table.states.flatMap((state) =>
      events.filter((event) => table.rows[state]?.[event] === undefined).map((event) => ({ state, event })),
    );
    for (const { state, event } of unlisted) {
      expect(checkedIn.decisions[state]?.[event]).toEqual([{ refuse: unlistedCode(table, state) }]);
    }
    const listed = Object.values(table.rows).flatMap((row) => Object.values(row).flat());
    expect(listed.filter(({ refuse }) => refuse === 'AlreadyTerminal' || refuse === 'IllegalTransition')).toEqual([]);
  });

  test('every declared state is reached, and the table walks the same way', () => {
    expect([...paths.keys()].sort()).toEqual([...table.states].sort());
    for (const [end, path] of paths) {
      let state = checkedIn.initial;
      for (const trial of path) {
        const decision = decisionFor(state, trial);
        state = 'to' in decision ? decision.to : state;
      }
      expect(state).toBe(end);
    }
  });

  test('000 §376.7: a terminal state is never left, whatever comes', () => {
    const left = edges.filter(({ from, to }) => table.terminal.includes(from) && to !== from);
    expect(left).toEqual([]);
    const exits = new Set(edges.filter(({ from, to }) => from !== to).map(({ from }) => from));
    expect(table.states.filter((state) => !exits.has(state)).sort()).toEqual([...table.terminal].sort());
  });
});
