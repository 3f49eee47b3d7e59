import { describe, expect, test } from 'vitest';
import { noOpCodes, reasonCodes, rejectionCodes } from '../model/codes.ts';
import { reasonSentences } from '../model/reason-sentences.ts';
import { allCharts, chartEvents, chartNames } from './charts.ts';
import { effectSentences, eventSentences, guardSentences, sentenceOf } from './explanations.ts';

const sentence = /^[A-Z].*\.$/;

const candidates = chartNames.flatMap((chart) =>
  Object.values(allCharts[chart].table.rows).flatMap((row) =>
    Object.values(row)
      .flat()
      .map((candidate) => ({ chart, ...candidate })),
  ),
);

/** Pairs of chart and name that need a sentence. */
const needed = {
  events: chartNames.flatMap((chart) => chartEvents[chart].map((name) => ({ chart, name }))),
  guards: candidates.flatMap(({ chart, guard }) => (guard === null ? [] : { chart, name: guard })),
  effects: candidates.flatMap(({ chart, effects }) => effects.map((name) => ({ chart, name }))),
};

describe.each([
  ['events', eventSentences],
  ['guards', guardSentences],
  ['effects', effectSentences],
] as const)('explanations of %s', (kind, sentences) => {
  test('each one of every chart has a sentence, and no sentence is about nothing', () => {
    const used = new Set<string>();
    for (const { chart, name } of needed[kind]) {
      expect(sentenceOf(sentences, chart, name)).toMatch(sentence);
      used.add(Object.hasOwn(sentences, `${chart}.${name}`) ? `${chart}.${name}` : name);
    }
    expect(Object.keys(sentences).filter((key) => !used.has(key))).toEqual([]);
    expect(() => sentenceOf(sentences, 'job', 'nonsense')).toThrow('nothing explains nonsense of job');
  });
});

test('explanations of codes: every reason, rejection and no-op has a sentence', () => {
  expect(Object.keys(reasonSentences).sort()).toEqual([...reasonCodes].sort());
  const all = [reasonSentences, rejectionCodes, noOpCodes].flatMap((codes) => Object.values<string>(codes));
  expect(all.filter((text) => !sentence.test(text))).toEqual([]);
});
