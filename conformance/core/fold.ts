/** Whether the stored rows are the fold of the facts (D3), and whether a fact stands for every change (F1). */
import type { Changes, Fact, NodeRow, RunAggregate } from '../../machines/index.ts';
import { evolve, unfoldedColumns } from '../../machines/index.ts';
import { sameValue } from './same-value.ts';

const never: ReadonlySet<string> = new Set();
const unfolded = {
  job: new Set<string>(unfoldedColumns.job),
  attempt: new Set<string>(unfoldedColumns.attempt),
  lease: new Set<string>(unfoldedColumns.lease),
};

/** Columns in which two rows differ, those left out of the fold excepted. */
function differences(what: string, stored: object, folded: object | undefined, skipped: ReadonlySet<string>): string[] {
  if (folded === undefined) return [`fold: ${what} is missing`];
  const wrong: string[] = [];
  for (const column of Object.keys(stored)) {
    if (skipped.has(column) || sameValue(Reflect.get(stored, column), Reflect.get(folded, column))) continue;
    wrong.push(`fold: ${what}.${column} differs`);
  }
  return wrong;
}

/** Evolves `shadow` by the facts of a commit and compares every row the commit wrote. */
export function foldDifferences(shadow: RunAggregate, changes: Changes): readonly string[] {
  for (const fact of changes.facts) evolve(shadow, fact);
  return [
    ...differences('run', changes.run, shadow.run, never),
    ...changes.jobs.flatMap((row) => differences(row.node, row, shadow.node(row.index), unfolded.job)),
    ...changes.gates.flatMap((row) => differences(row.node, row, shadow.node(row.index), never)),
    ...changes.attempts.flatMap((row) => differences(row.id, row, shadow.attempt(row.id), unfolded.attempt)),
    ...changes.leases.flatMap((row) => differences(row.id, row, shadow.lease(row.id), unfolded.lease)),
  ];
}

/** Every row of the run against its fold, also those no commit wrote lately. */
export function wholeFoldDifferences(shadow: RunAggregate, stored: RunAggregate): readonly string[] {
  return [
    ...differences('run', stored.run, shadow.run, never),
    ...stored.nodes.flatMap((row) =>
      differences(row.node, row, shadow.node(row.index), row.kind === 'job' ? unfolded.job : never),
    ),
  ];
}

const audits: ReadonlySet<string> = new Set(['LateAttemptResultRejected', 'OutageCreditGranted', 'RunPriorityChanged']);

/** Facts that stand for no change. A gate that opens is still Pending: its change is `openedAt`. */
export const emptyFacts = (facts: readonly Fact[]): readonly string[] =>
  facts.filter((fact) => !stands(fact)).map((fact) => `facts: ${fact.type} ${fact.sequence} changes nothing`);

function stands(fact: Fact): boolean {
  if (audits.has(fact.type) || fact.type === 'GateOpened' || fact.from !== fact.to) return true;
  return 'intent' in fact.set && fact.set.intent !== null;
}

/** Rows whose state or intent moved without a fact of their own. */
export function silentChanges(before: Pick<RunAggregate, 'run' | 'nodes'>, changes: Changes): readonly string[] {
  const told = new Set(changes.facts.map((fact) => (fact.entity === 'run' ? 'run' : fact.id)));
  const moved = (old: NodeRow | undefined, row: NodeRow): boolean =>
    old === undefined ||
    old.state !== row.state ||
    (old.kind === 'job' && row.kind === 'job' && !sameValue(old.intent, row.intent));
  const { run } = changes;
  const runMoved = before.run.state !== run.state || !sameValue(before.run.intent, run.intent);
  return [
    ...(runMoved && !told.has('run') ? ['facts: the run changed silently'] : []),
    ...[...changes.jobs, ...changes.gates]
      .filter((row) => moved(before.nodes[row.index], row) && !told.has(row.id))
      .map((row) => `facts: ${row.node} changed silently`),
  ];
}
