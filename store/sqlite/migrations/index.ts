import { historyTables } from './001-history.ts';
import { operationTables } from './001-operations.ts';
import { runTables, terminalTriggers } from './001-runs.ts';

export interface Migration {
  /** Consecutive from 1; also the `user_version` of a file that has it. */
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/** Forward only. The text of a released migration never changes: files know it by its checksum. */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'initial',
    sql: [runTables, historyTables, operationTables, terminalTriggers].join('\n'),
  },
];
