import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { agoText, durationText, shellWord } from '../../views/index.ts';
import { colorPaint, plainPaint, styleOfState, wantsColor } from './paint.ts';
import { printable, shortened } from './printable.ts';
import { renderFields, renderTable } from './table.ts';

describe('colour', () => {
  it('is for terminals only, and for those that did not refuse it', () => {
    const wish = { isTty: true, env: {}, refused: false };
    expect(wantsColor(wish)).toBe(true);
    expect(wantsColor({ ...wish, isTty: false })).toBe(false);
    expect(wantsColor({ ...wish, refused: true })).toBe(false);
    expect(wantsColor({ ...wish, env: { NO_COLOR: '1' } })).toBe(false);
    expect(wantsColor({ ...wish, env: { TERM: 'dumb' } })).toBe(false);
    // An empty NO_COLOR is as good as none.
    expect(wantsColor({ ...wish, env: { NO_COLOR: '' } })).toBe(true);
  });

  it('000 §318 loss and retries are no red', () => {
    for (const state of ['Lost', 'RetryWaiting', 'Cancelled', 'Skipped']) expect(styleOfState(state)).not.toBe('red');
    for (const state of ['Failed', 'TimedOut']) expect(styleOfState(state)).toBe('red');
  });
});

describe('tables', () => {
  const look = { paint: plainPaint, widthMax: null };

  it('align by what is seen, whatever the style, and end without blanks', () => {
    const rows = [
      ['a', { text: 'Succeeded', style: 'green' as const }, 'x'],
      ['longer', { text: 'Failed', style: 'red' as const }, ''],
    ];
    const plain = renderTable({ head: ['NAME', 'STATE', 'WHY'], rows, ...look });
    expect(plain).toBe('NAME    STATE      WHY\na       Succeeded  x\nlonger  Failed');
    const painted = renderTable({ head: ['NAME', 'STATE', 'WHY'], rows, paint: colorPaint, widthMax: null });
    const seen = stripVTControlCharacters(painted).split('\n');
    expect(seen.map((line) => line.trimEnd())).toEqual(plain.split('\n'));
  });

  it('cut their last column to the window', () => {
    const text = renderTable({ head: ['A', 'WHY'], rows: [['a', 'x'.repeat(100)]], paint: plainPaint, widthMax: 20 });
    expect(text.split('\n').map((line) => line.length)).toEqual([6, 20]);
  });

  it('show nothing that moves the cursor', () => {
    const hostile = 'a\u001b[2Jb\u202ec\nd\u0007';
    expect(renderTable({ head: ['A'], rows: [[hostile]], ...look })).toBe('A\na·[2Jb·c d·');
    expect(
      renderFields(
        [
          ['k', hostile],
          ['empty', ''],
          ['none', null],
        ],
        plainPaint,
      ),
    ).toBe('k  a·[2Jb·c d·');
  });
});

describe('texts', () => {
  it.each([
    [0, '0.0s'],
    [450, '0.4s'],
    [9_999, '9.9s'],
    [59_999, '59s'],
    [65_000, '1m 05s'],
    [3_600_000, '1h 00m'],
    [200_000_000, '2d 7h'],
    [-5, '0.0s'],
  ])('%i ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
    expect(agoText(0, ms)).toBe(`${text} ago`);
  });

  it('words for a shell are quoted only where they must be', () => {
    expect(shellWord('@last/build')).toBe('@last/build');
    expect(shellWord("a'b[x=1]")).toBe(`'a'\\''b[x=1]'`);
  });

  it('long texts end in an ellipsis', () => {
    expect([shortened('abcdef', 6), shortened('abcdefg', 6), shortened('ab', 0)]).toEqual(['abcdef', 'abcde…', '…']);
    expect(printable('plain')).toBe('plain');
  });
});
