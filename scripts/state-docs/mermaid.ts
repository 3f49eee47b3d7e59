/** A table as a Mermaid state diagram: one arrow per pair of states, labelled with its events. */
import type { Table } from '../../machines/index.ts';

export function stateDiagram(table: Table): string {
  const arrows = new Map<string, string[]>();
  for (const [from, row] of Object.entries(table.rows)) {
    for (const [event, candidates] of Object.entries(row)) {
      for (const { target, effects } of candidates) {
        if (target === null && effects.length === 0) continue;
        const arrow = `${from} --> ${target ?? from}`;
        const events = arrows.get(arrow) ?? [];
        if (!events.includes(event)) arrows.set(arrow, [...events, event]);
      }
    }
  }
  return [
    '```mermaid',
    'stateDiagram-v2',
    `  [*] --> ${table.initial}`,
    ...[...arrows].map(([arrow, events]) => `  ${arrow}: ${events.join(', ')}`),
    ...table.terminal.map((state) => `  ${state} --> [*]`),
    '```',
  ].join('\n');
}
