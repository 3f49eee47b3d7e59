import { describe, expect, it } from 'vitest';
import { jsonText, plainText } from './json-text.ts';

describe('postgres text', () => {
  it.each([
    ['a zero byte', 'a\u0000b', 'a\uFFFDb'],
    ['half a character', 'cut \uD83D', 'cut \uFFFD'],
    ['the other half', '\uDE00 cut', '\uFFFD cut'],
    ['whole characters', 'a 😀 b', 'a 😀 b'],
    ['other control characters', '\u001b[31mred\u0007', '\u001b[31mred\u0007'],
    ['what only looks like an escape', '\\u0000 \\ud83d', '\\u0000 \\ud83d'],
    ['a backslash before a zero byte', '\\\u0000', '\\\uFFFD'],
  ])('%s is sent so that it can be read', (_claim, text, heard) => {
    expect(JSON.parse(jsonText({ deep: [{ text }] }))).toEqual({ deep: [{ text: heard }] });
  });

  it('outside of JSON too', () => {
    expect([plainText('a\u0000b'), plainText('plain'), plainText(null)]).toEqual(['a\uFFFDb', 'plain', null]);
  });
});
