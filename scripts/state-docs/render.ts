/** docs/state-machines.md from the released tables and their explanations. */
import type { ChartName, ReleasedDecision, ReleasedTable } from '../../machines/index.ts';
import {
  allCharts,
  chartEvents,
  chartNames,
  effectSentences,
  eventSentences,
  guardSentences,
  noOpCodes,
  reasonSentences,
  rejectionCodes,
  releasedTable,
  sentenceOf,
  tableDigest,
  tableVersion,
} from '../../machines/index.ts';
import { stateDiagram } from './mermaid.ts';
import { introduction, stories } from './text.ts';

export function renderStateDocs(): string {
  const contents = chartNames.map((name) => `[${stories[name].title}](#${anchor(stories[name].title)})`);
  const sections = [
    introduction.trimEnd(),
    `These are the tables of version ${tableVersion} (\`${tableDigest}\`).`,
    `Machines: ${[...contents, '[Codes](#codes)'].join(' · ')}`,
    ...chartNames.map(chartSection),
    codesSection(),
  ];
  return `${sections.join('\n\n')}\n`;
}

const anchor = (title: string): string => title.toLowerCase().replaceAll(' ', '-');

function chartSection(name: ChartName): string {
  const { table } = allCharts[name];
  const { title, about, rules } = stories[name];
  const released = releasedTable(table, chartEvents[name]);
  return [
    `## ${title}`,
    about,
    rules.map((rule) => `- ${rule}`).join('\n'),
    stateDiagram(table),
    mapTable(released, chartEvents[name]),
    '<details><summary>All decisions</summary>',
    decisionTable(released),
    '</details>',
    explanationTables(name),
  ].join('\n\n');
}

const isUnlisted = (decisions: readonly ReleasedDecision[]): boolean =>
  decisions.length === 1 &&
  decisions.every(
    (decision) =>
      'refuse' in decision && (decision.refuse === 'IllegalTransition' || decision.refuse === 'AlreadyTerminal'),
  );

/** Event by state: where each pair may lead. States in which nothing is listed have no column. */
function mapTable(table: ReleasedTable, events: readonly string[]): string {
  const states = Object.entries(table.decisions).filter(([, row]) => !Object.values(row).every(isUnlisted));
  const header = ['event', ...states.map(([state]) => state)];
  const rows = events.map((event) => [event, ...states.map(([state, row]) => outcomes(state, row[event] ?? []))]);
  return markdownTable(header, rows);
}

function outcomes(state: string, decisions: readonly ReleasedDecision[]): string {
  if (isUnlisted(decisions)) return '–';
  const words = decisions.map((decision) => {
    if ('to' in decision) return decision.to === state ? 'stays' : `**${decision.to}**`;
    if ('answer' in decision) return 'no-op';
    return 'refuse' in decision ? 'refused' : `as ${decision.decideAs}`;
  });
  return [...new Set(words)].join(', ');
}

function decisionTable(table: ReleasedTable): string {
  const rows = Object.entries(table.decisions).flatMap(([state, row]) =>
    Object.entries(row)
      .filter(([, decisions]) => !isUnlisted(decisions))
      .flatMap(([event, decisions]) =>
        decisions.map((decision, index) => [
          index === 0 ? state : '',
          index === 0 ? event : '',
          decision.when ?? (index === 0 ? '' : 'otherwise'),
          outcome(decision),
          'to' in decision ? (decision.effects ?? []).join(', ') : '',
        ]),
      ),
  );
  return markdownTable(['state', 'event', 'when', 'decision', 'effects'], rows);
}

function outcome(decision: ReleasedDecision): string {
  if ('to' in decision) return `**${decision.to}**`;
  if ('answer' in decision) return `no-op \`${decision.answer}\``;
  return 'refuse' in decision ? `refused \`${decision.refuse}\`` : `as ${decision.decideAs}`;
}

function explanationTables(name: ChartName): string {
  const candidates = Object.values(allCharts[name].table.rows).flatMap((row) => Object.values(row).flat());
  const guards = candidates.flatMap(({ guard }) => guard ?? []);
  const effects = candidates.flatMap((candidate) => candidate.effects);
  return [
    explained('event', eventSentences, name, chartEvents[name]),
    explained('when', guardSentences, name, guards),
    explained('effect', effectSentences, name, effects),
  ]
    .filter((table) => table !== '')
    .join('\n\n');
}

function explained(
  kind: string,
  sentences: Readonly<Record<string, string>>,
  chart: ChartName,
  names: readonly string[],
): string {
  const rows = [...new Set(names)].map((name) => [name, sentenceOf(sentences, chart, name)]);
  return rows.length === 0 ? '' : markdownTable([kind, 'meaning'], rows);
}

function codesSection(): string {
  const list = (codes: Readonly<Record<string, string>>): string =>
    markdownTable(
      ['code', 'meaning'],
      Object.entries(codes).map(([code, sentence]) => [`\`${code}\``, sentence]),
    );
  return [
    '## Codes',
    'The lists are closed: a code that is not here does not occur.',
    '### Refusals',
    list(rejectionCodes),
    '### No-ops',
    list(noOpCodes),
    '### Reasons of facts',
    list(reasonSentences),
  ].join('\n\n');
}

function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(header), `|${'---|'.repeat(header.length)}`, ...rows.map(line)].join('\n');
}
