import { claimFunctions } from './001-claims.ts';
import { commitFunction } from './001-commit.ts';
import { historyTables } from './001-history.ts';
import { operationTables } from './001-operations.ts';
import { runTables } from './001-runs.ts';
import { terminalTriggers } from './001-terminal.ts';
import { writeRows } from './001-write-rows.ts';

export interface Migration {
  /** Consecutive from 1. */
  readonly version: number;
  readonly name: string;
  /** The oldest version of this program's schema that may still work beside it; older ones stop. */
  readonly worksFrom: number;
  readonly sql: string;
}

/** Forward only. The text of a released migration never changes: databases know it by its checksum. */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'initial',
    worksFrom: 1,
    sql: [runTables, historyTables, operationTables, terminalTriggers, writeRows, commitFunction, claimFunctions].join(
      '\n',
    ),
  },
];
