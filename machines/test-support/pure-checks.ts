/**
 * What must also hold where nothing ambient exists, from the import on: `pure-run.ts` runs these in a process whose
 * clock, chance, timers, environment and network throw. Add a check by adding an entry; it returns what is wrong.
 */
import type { ChartName } from '../charts/charts.ts';
import { allCharts, chartEvents, chartNames } from '../charts/charts.ts';
import { formatReleasedTable, releasedTable } from '../charts/released-table.ts';
import { grids } from './chart-grids.ts';
import { compareExpected, parseExpected } from './expected-transitions.ts';
import { proveEquality } from './table-equality.ts';

/** Files are read before the world is sealed. */
export interface PureFiles {
  readonly table: (chart: ChartName) => string;
  readonly expected: (chart: ChartName) => string;
}

export interface PureCheck {
  readonly name: string;
  readonly findings: () => readonly string[];
}

export function pureChecks(files: PureFiles): readonly PureCheck[] {
  return chartNames.flatMap((name) => [
    { name: `${name}: table equals statechart`, findings: () => proveEquality(allCharts[name]).differences },
    { name: `${name}: checked-in table`, findings: () => tableFindings(name, files.table(name)) },
    { name: `${name}: expected transitions`, findings: () => expectedFindings(name, files.expected(name)) },
  ]);
}

function tableFindings(name: ChartName, text: string): readonly string[] {
  const current = formatReleasedTable(releasedTable(allCharts[name].table, chartEvents[name]));
  return current === text ? [] : [`machines/tables/${name}.json differs from the chart`];
}

function expectedFindings(name: ChartName, text: string): readonly string[] {
  return compareExpected(parseExpected(text), allCharts[name].table, grids[name]).differences;
}
