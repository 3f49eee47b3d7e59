/** Whose outputs a job finds in its workspace. */

import type { NodeName } from '../model/ids.ts';
import type { AncestorSearch } from './ancestors.ts';
import type { JobEntry, PlanDocument } from './document.ts';
import type { NameTable, NodeRange } from './name-table.ts';
import type { EntryNeeds } from './needs.ts';
import { lookUp } from './needs.ts';
import type { PlanProblem } from './problem.ts';
import { problem } from './problem.ts';

export interface InputContext {
  readonly document: PlanDocument;
  readonly names: NameTable;
  readonly needs: EntryNeeds;
  readonly ancestors: AncestorSearch;
}

/** The inputs of each entry, by its index. */
export function planInputs(context: InputContext): {
  inputs: readonly (readonly NodeName[])[];
  problems: PlanProblem[];
} {
  const problems: PlanProblem[] = [];
  const inputs = context.document.entries.map((entry, index) => {
    if (entry.kind !== 'job') return [];
    if (entry.written.inputsFrom === undefined) return defaultInputs(index, context);
    const written = writtenInputs(entry, entry.written.inputsFrom, { ...context, index });
    for (const found of written.problems) problems.push(found);
    return written.inputs;
  });
  return { inputs, problems };
}

function writtenInputs(
  entry: JobEntry,
  references: readonly string[],
  context: InputContext & { readonly index: number },
): { inputs: NodeName[]; problems: PlanProblem[] } {
  const problems: PlanProblem[] = [];
  const nodes = new Set<NodeName>();
  references.forEach((name, position) => {
    const path = [...entry.path, 'inputsFrom', position];
    const found = lookUp({ name, kind: 'job' }, path, context);
    if (!found.ok) problems.push(found.problem);
    if (!found.ok || found.range === null) return;
    const { range } = found;
    const above = context.ancestors.above(context.index);
    if (above === null) problems.push(problem('GraphTooLarge', path, 'too many edges are above this job'));
    else if (!above.some((candidate) => contains(candidate, range))) {
      const message = `"${name}" need not have ended when "${entry.name}" starts`;
      problems.push(problem('NotUpstream', path, message, `add it to the needs of "${entry.name}"`));
    }
    for (const node of namesOf(range, context.names)) nodes.add(node);
  });
  return { inputs: [...nodes], problems };
}

/** The jobs needed directly, or through gates alone, that promise outputs. */
function defaultInputs(index: number, { document, names, needs }: InputContext): NodeName[] {
  const nodes = new Set<NodeName>();
  const visited = new Set([index]);
  const waiting = [index];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const need of needs[next] ?? []) {
      const upstream = document.entries[need.entry];
      // After a failure there are no outputs to take.
      if (upstream === undefined || need.condition === 'failure' || need.condition === 'anyFailure') continue;
      if (upstream.kind === 'gate' && !visited.has(need.entry)) {
        visited.add(need.entry);
        waiting.push(need.entry);
      }
      if (upstream.kind !== 'job' || upstream.written.outputs.length === 0) continue;
      for (const node of namesOf(need, names)) nodes.add(node);
    }
  }
  return [...nodes];
}

function contains(outer: NodeRange, inner: NodeRange): boolean {
  return outer.first <= inner.first && inner.first + inner.count <= outer.first + outer.count;
}

function namesOf(range: NodeRange, names: NameTable): readonly NodeName[] {
  return names.nodeNames.slice(range.first, range.first + range.count);
}
