/** Cuts a line to a width without counting, or cutting into, colour codes. */
const codeStart = '\u001b[';

/** Length of the colour code at a place, or 0. */
function codeLength(line: string, at: number): number {
  if (!line.startsWith(codeStart, at)) return 0;
  const end = line.indexOf('m', at);
  return end < 0 ? 0 : end + 1 - at;
}

export function cut(line: string, widthMax: number): string {
  let width = 0;
  let result = '';
  for (let at = 0; at < line.length; ) {
    const code = codeLength(line, at);
    if (code > 0) {
      result += line.slice(at, at + code);
      at += code;
      continue;
    }
    const character = String.fromCodePoint(line.codePointAt(at) ?? 0);
    at += character.length;
    width += 1;
    // Codes behind the cut still have to end what was begun before it.
    if (width <= widthMax) result += character;
  }
  return result;
}
