import { describe, expect, test } from 'vitest';
import { allCharts, chartNames } from '../machines/index.ts';
import { stateDiagram } from './state-docs/mermaid.ts';
import { renderStateDocs } from './state-docs/render.ts';
import { stories } from './state-docs/text.ts';

const page = renderStateDocs();

describe('state documents', () => {
  test.each(chartNames)('%s: picture, map and every listed pair are on the page', (name) => {
    const { table } = allCharts[name];
    const section = page.split('\n## ').find((each) => each.startsWith(`${stories[name].title}\n`)) ?? '';
    expect(section).toContain(stateDiagram(table));
    const listed = Object.entries(table.rows).flatMap(([state, row]) =>
      Object.keys(row).map((event) => `| ${state} | ${event} |`),
    );
    expect(listed.filter((row) => !section.includes(row))).toEqual([]);
  });

  test('the picture has one arrow per pair of states, from the start to the ends', () => {
    expect(stateDiagram(allCharts.lease.table).split('\n')).toEqual([
      '```mermaid',
      'stateDiagram-v2',
      '  [*] --> Offered',
      '  Offered --> Held: PreparationStarted',
      '  Offered --> Rejected: LeaseRejected',
      '  Offered --> Expired: OfferExpired',
      '  Offered --> Revoked: LeaseRevoked, TerminationRequested',
      '  Held --> Held: Renewed',
      '  Held --> Released: AttemptSucceeded, AttemptFailed, TerminationConfirmed',
      '  Held --> Expired: LeaseExpired',
      '  Released --> [*]',
      '  Expired --> [*]',
      '  Rejected --> [*]',
      '  Revoked --> [*]',
      '```',
    ]);
  });

  test('every row of a table has as many cells as its header', () => {
    const lines = page.split('\n');
    const cells = (line: string): number => line.split('|').length;
    const uneven = lines.filter((line, index) => {
      const before = lines[index - 1] ?? '';
      return line.startsWith('|') && before.startsWith('|') && cells(line) !== cells(before);
    });
    expect(uneven).toEqual([]);
  });
});
