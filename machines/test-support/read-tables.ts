import { readFileSync } from 'node:fs';
import type { ChartName } from '../charts/charts.ts';
import type { ReleasedTable } from '../charts/released-table.ts';
import { releasedTableSchema } from '../charts/released-table.ts';

const folder = new URL('../tables/', import.meta.url);

export const tableText = (name: ChartName): string => readFileSync(new URL(`${name}.json`, folder), 'utf8');

/** The table as it is checked in: what a person reviewed. */
export const checkedInTable = (name: ChartName): ReleasedTable =>
  releasedTableSchema.parse(JSON.parse(tableText(name)));
