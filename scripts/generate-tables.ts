/**
 * Writes machines/tables/<chart>.json, the released form of the state tables, from the charts.
 * With `--check` it writes nothing and exits 1 when a file differs from its chart.
 */
import path from 'node:path';
import { allCharts, chartEvents, chartNames, formatReleasedTable, releasedTable } from '../machines/index.ts';
import { writeOrCheck } from './lib/write-or-check.ts';

const files = chartNames.map((name) => ({
  path: path.join('machines', 'tables', `${name}.json`),
  text: formatReleasedTable(releasedTable(allCharts[name].table, chartEvents[name])),
}));

process.exitCode = await writeOrCheck('generate-tables', files, process.argv.includes('--check'));
