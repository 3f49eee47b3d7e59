import { describe, expect, test } from 'vitest';
import { parsePlanText } from './parse-plan.ts';
import { renderProblems } from './render-problems.ts';

function rendered(text: string): string {
  const parsed = parsePlanText(text, { file: 'plan.yaml', format: 'yaml' });
  return parsed.ok ? '' : renderProblems(parsed.problems, { text });
}

describe('problems for a terminal', () => {
  test('show the place, the line and what to do', () => {
    expect(rendered('project: p\nname: n\njobs:\n  a:\n    stpes: [x]\n    steps: [x]\n')).toBe(
      [
        'plan.yaml:5:5 UnknownKey: unknown key "stpes"',
        '     5 |     stpes: [x]',
        '       |     ^',
        '       hint: did you mean "steps"?',
      ].join('\n'),
    );
  });

  test('never show what may be a secret', () => {
    const shown = rendered('project: p\nname: n\njobs:\n  a:\n    steps: [x]\n    secrets: {TOKEN: hunter2}\n');
    expect(shown).toContain('secrets: {TOKEN: ***');
    expect(shown).not.toContain('hunter2');
  });

  test('a file cannot move the cursor or change colors', () => {
    const notice = {
      file: 'a\u001b[31m',
      line: 1,
      column: 1,
      code: 'UnknownKey',
      message: 'x\u009b2J\u202e',
      hint: '\r',
    };
    const shown = renderProblems([notice], { text: '\u001b]0;title\u0007\u2028' });
    expect(shown.replaceAll('\n', '')).toMatch(/^[\x20-\x7e·]+$/);
  });

  test('a long line is cut around the column', () => {
    const text = `project: p\nname: n\n${'x'.repeat(50)}: {a: "${'y'.repeat(500)}", b: !t z}\n`;
    const [, line = '', mark = ''] = rendered(text).split('\n');
    expect(line.length).toBeLessThan(140);
    expect(line.at(mark.indexOf('^'))).toBe('!');
  });

  test('without the text only the place is shown, and colors come on request', () => {
    const notice = { file: 'f', line: 1, column: 1, code: 'NotUtf8', message: 'm', hint: null };
    expect(renderProblems([notice], { text: null })).toBe('f:1:1 NotUtf8: m');
    expect(renderProblems([notice], { text: null, color: true })).toContain('\u001b[1mNotUtf8');
  });
});
