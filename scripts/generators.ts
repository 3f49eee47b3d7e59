/**
 * Everything in the repository that is written by a program. A generator is a script that writes its outputs, and with
 * `--check` writes nothing and exits 1 when what is there differs from what it would write.
 */
export interface Generator {
  readonly name: string;
  readonly script: string;
  /** Paths it writes, and nothing else. */
  readonly outputs: readonly string[];
}

export const generators: readonly Generator[] = [
  { name: 'state tables', script: 'scripts/generate-tables.ts', outputs: ['machines/tables'] },
  { name: 'state documents', script: 'scripts/generate-state-docs.ts', outputs: ['docs/state-machines.md'] },
  { name: 'postgres schema', script: 'scripts/generate-postgres-schema.ts', outputs: ['store/postgres/schema.txt'] },
];
