/** What must be true of the history of a run that was interrupted, whatever the moment. */
import { z } from 'zod';

const factShape = z.object({
  sequence: z.number(),
  type: z.string(),
  entity: z.string(),
  entityId: z.string(),
  node: z.string().nullable(),
  to: z.string(),
});
export type ShownFact = z.infer<typeof factShape>;

export const parseFacts = (lines: string): readonly ShownFact[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => factShape.parse(JSON.parse(line)));

const ends = new Set(['Succeeded', 'Failed', 'Cancelled', 'TimedOut', 'Skipped']);

/** Empty when the history is sound. */
export function historyProblems(facts: readonly ShownFact[]): readonly string[] {
  const problems: string[] = [];
  const ended = new Map<string, string>();
  for (const [index, fact] of facts.entries()) {
    if (fact.sequence !== index + 1) problems.push(`fact ${fact.sequence} stands at place ${index + 1}`);
    if (fact.type === 'LateAttemptResultRejected') continue;
    const key = `${fact.entity} ${fact.entityId}`;
    const end = ended.get(key);
    if (end !== undefined) problems.push(`${key} (${fact.node ?? 'run'}) was ${end}, then ${fact.type}`);
    if (fact.entity === 'job' && ends.has(fact.to)) ended.set(key, fact.to);
    if (fact.type === 'AttemptEnded') ended.set(key, fact.to);
  }
  return problems;
}
